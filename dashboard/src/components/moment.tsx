import { useLanguage } from '../language/language.tsx';

/** When something was, in one line; all of it, with the year and the seconds, for whoever points at it. */
export function Moment({ at }: { at: string }) {
  const { format } = useLanguage();
  return (
    <time dateTime={at} title={`${format.date(at)} ${format.time(at)}`}>
      {format.moment(at)}
    </time>
  );
}
