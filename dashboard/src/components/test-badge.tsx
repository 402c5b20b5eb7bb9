import { fill, useOperatorLanguage } from '../language/language.tsx';
import { Badge } from './page.tsx';

/** What the smallest request to a vendor showed; nothing before it is sent. */
export function TestBadge({
  result,
}: {
  result: { ok: boolean; latencyMs: number; status: number | null; problem: string | null } | null;
}) {
  const { t, format } = useOperatorLanguage();
  return (
    <span role="status">
      {result === null ? null : (
        <Badge tone={result.ok ? 'good' : 'bad'}>
          {result.ok
            ? fill(t.operator.testOk, { time: format.milliseconds(result.latencyMs) })
            : `${result.status ?? '–'}: ${result.problem ?? ''}`}
        </Badge>
      )}
    </span>
  );
}
