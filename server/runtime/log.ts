import { type DestinationStream, type Logger, pino } from 'pino';
import { describeError } from './http.ts';

/**
 * The log of one process: JSON lines whose fields are chosen by an allow-list. Objects that could carry a header, a
 * body or an address are reduced by serialisers, so that no level and no mistake in a call writes them out.
 *
 * A field that is not listed is dropped silently: a test checks every call of the server against this list.
 */
export const allowedFields: ReadonlySet<string> = new Set([
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
  'failures',
  'settled',
  'holds',
  'lines',
  'made',
  'resealed',
  'lost',
  'mismatches',
]);

type ChildMaker = (this: Logger, bindings: Record<string, unknown>, more?: object) => Logger;

function keepAllowed(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (allowedFields.has(name) && typeof value !== 'object') kept[name] = value;
  }
  return kept;
}

export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: keepAllowed,
    },
    // Names under which frameworks log errors; the kind is enough.
    serializers: { err: () => undefined, req: () => undefined, res: () => undefined },
    hooks: {
      // Without a message of its own, a line about an error would get the error's message, which can quote people's
      // texts.
      logMethod(args: unknown[], method: (fields: object | string, text?: string) => void): void {
        const [first, text] = args;
        if (typeof first !== 'object' || first === null) {
          method.call(this, String(first));
          return;
        }
        const error = first instanceof Error ? first : (first as { err?: unknown }).err;
        const fields = first instanceof Error ? {} : first;
        const sentence = typeof text === 'string' ? text : 'error';
        if (error instanceof Error) method.call(this, { ...describeError(error), ...fields }, sentence);
        else method.call(this, fields, ...(typeof text === 'string' ? [text] : []));
      },
    },
  };
  const log = destination === undefined ? pino(options) : pino(options, destination);
  // Bindings of a child logger pass no formatter. Children of children inherit this.
  const { child } = log as unknown as { child: ChildMaker };
  const makeChild: ChildMaker = function makeChild(bindings, more) {
    return child.call(this, keepAllowed(bindings), more);
  };
  return Object.assign(log, { child: makeChild });
}
