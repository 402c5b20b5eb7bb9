import { useLanguage } from '../language/language.tsx';

/** A moment in one line; the full date and time on hover. */
export function Moment({ at }: { at: string }) {
  const { format } = useLanguage();
  return (
    <time dateTime={at} title={`${format.date(at)} ${format.time(at)}`}>
      {format.moment(at)}
    </time>
  );
}
