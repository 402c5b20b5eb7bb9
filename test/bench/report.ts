import type { Driven } from './wrk.ts';

/** One subject in one case. */
export interface Row extends Driven {
  case: string;
  subject: string;
  /** Processor time of the gateway's processes and of its database's, a request. */
  gatewayMicroseconds: number;
  databaseMicroseconds: number;
  residentMb: number;
}

/** Prints the table of a run. Ratios are to the other subjects of the same case. */
export function report(machine: string, rows: readonly Row[], notes: readonly string[], json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ machine, rows, notes }, null, 2)}\n`);
    return;
  }
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const head = [
    'case',
    'subject',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'p50 added',
    'CPU µs gateway',
    'CPU µs database',
    'to the first',
    'to Portkey',
    'MB',
    'errors',
  ];
  process.stdout.write(`${machine}\n\n${line(head)}${line(head.map(() => '---'))}`);
  for (const row of rows) {
    const first = rows.find((other) => other.case === row.case) ?? row;
    const portkey = rows.find((other) => other.case === row.case && other.subject === 'portkey');
    process.stdout.write(
      line([
        row.case,
        row.subject,
        row.perSecond.toFixed(0),
        row.p50.toFixed(2),
        row.p99.toFixed(2),
        (row.p50 - first.p50).toFixed(2),
        row.gatewayMicroseconds.toFixed(0),
        row.databaseMicroseconds.toFixed(0),
        (row.perSecond / first.perSecond).toFixed(2),
        portkey === undefined ? '' : (row.perSecond / portkey.perSecond).toFixed(1),
        row.residentMb.toFixed(0),
        String(row.errors),
      ]),
    );
  }
  for (const note of notes) process.stdout.write(`${note}\n`);
}
