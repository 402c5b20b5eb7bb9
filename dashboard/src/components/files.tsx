/** Links to a document of the service as files: PDF and CSV. */
export function Files({ url, what }: { url: string; what: string }) {
  return (
    <>
      {['pdf', 'csv'].map((format) => (
        <a
          key={format}
          className="button small"
          href={`${url}&format=${format}`}
          target="_blank"
          rel="noreferrer"
          aria-label={`${what}, ${format.toUpperCase()}`}
        >
          {format.toUpperCase()}
        </a>
      ))}
    </>
  );
}
