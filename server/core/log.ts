/**
 * Fields that a line of the log may have. The list is both what the types of `Log` accept and what the log writes: a
 * field that is missing here fails the build in a call, and is dropped when a framework passes it.
 *
 * Ids, names of our own, counts and kinds of errors; never a text, a credential or an address of a person.
 */
export const logFields = [
  'requestId',
  'accountId',
  'keyId',
  'orderId',
  'transferId',
  'grantId',
  'method',
  'route',
  'status',
  'tookMs',
  'kind',
  'code',
  'where',
  'upstream',
  'model',
  'protocol',
  'outcome',
  'count',
  'address',
  'port',
  'postgresPid',
  'worker',
  'invariant',
  'rows',
  'attempt',
  'waitMs',
  'file',
  'migrations',
  'signal',
  'reason',
  'job',
  'name',
  'state',
  'amount',
  'severity',
  'operation',
  'field',
  'endpointId',
  'channel',
  'pool',
  'error',
  'constraint',
  'said',
  'failures',
  'settled',
  'holds',
  'lines',
  'made',
  'resealed',
  'lost',
  'mismatches',
] as const;

type LogField = (typeof logFields)[number];

/** Values of a line: objects and lists could carry a header or a body. */
type LogValue = string | number | bigint | boolean | null | undefined;

type LogFields = { readonly [F in LogField]?: LogValue };

/** Refuses further fields, also those of values that are spread into the line. */
type Only<F> = F & { readonly [K in Exclude<keyof F, LogField>]: never };

type LogMethod = <F extends LogFields>(fields: Only<F>, text: string) => void;

/** The log of a process. Parts take the levels they use: `Pick<Log, 'warn'>`. */
export interface Log {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  fatal: LogMethod;
}
