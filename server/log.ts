import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * The log of one process: JSON lines whose fields are chosen by an allow-list. Objects that could carry a header, a
 * body or an address are cut down by serialisers, so that no level and no mistake in a call writes them out.
 */
const allowed = new Set([
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
]);

export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => {
        const kept: Record<string, unknown> = {};
        for (const [name, value] of Object.entries(fields)) {
          if (allowed.has(name) && typeof value !== 'object') kept[name] = value;
        }
        return kept;
      },
    },
    // What frameworks log by themselves arrives under these names; its kind is enough.
    serializers: { err: () => undefined, req: () => undefined, res: () => undefined },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
