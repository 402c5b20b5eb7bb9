import { type DestinationStream, type Logger, pino } from 'pino';
import { type Log, logFields } from '../core/log.ts';
import { describeError } from './http.ts';

/** The log of this process. */
export interface ServerLog extends Log {
  /** The same log, for a framework that logs its own fields: the allow-list applies there, too. */
  readonly framework: Logger;
}

/**
 * The log of one process: JSON lines whose fields are chosen by the allow-list of `core/log.ts`. Objects that could
 * carry a header, a body or an address are reduced by serialisers, so that no level and no mistake in a call writes
 * them out.
 */
const allowedFields: ReadonlySet<string> = new Set(logFields);

/** Standard output. A reader that has gone or a full disk loses lines, and ends no process that can serve. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true });
  output.on('error', () => undefined);
  return output;
}

type ChildMaker = (this: Logger, bindings: Record<string, unknown>, more?: object) => Logger;

function keepAllowed(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (allowedFields.has(name) && typeof value !== 'object') kept[name] = value;
  }
  return kept;
}

export function createLog(level: string, destination?: DestinationStream): ServerLog {
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
      // Without its own message, a line about an error would get the error's message, which can quote people's
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
  const log = pino(options, destination ?? standardOutput());
  // Bindings of a child logger pass no formatter. Children of children inherit this.
  const { child } = log as unknown as { child: ChildMaker };
  const makeChild: ChildMaker = function makeChild(bindings, more) {
    return child.call(this, keepAllowed(bindings), more);
  };
  const framework: Logger = Object.assign(log, { child: makeChild });
  return Object.assign(framework as unknown as Log, { framework });
}
