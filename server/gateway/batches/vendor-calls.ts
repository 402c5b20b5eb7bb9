import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Reach } from '../../catalog/router.ts';
import type { GatewayTimeouts } from '../../runtime/config.ts';
import { bytesWithoutSecret } from '../upstream/secret.ts';

/** Calls of a vendor's batches: short answers as a whole, results as a stream. */

/** A short answer of a vendor. */
export interface VendorAnswer {
  status: number;
  body: Buffer;
}

/** No answer came; never contains the vendor's text. `sent`: the vendor may have acted on the request. */
export class VendorAway extends Error {
  override name = 'VendorAway';
  readonly sent: boolean;

  constructor(sent: boolean) {
    super('a vendor gave no answer about a batch');
    this.sent = sent;
  }
}

export interface VendorAsk {
  method: 'GET' | 'POST' | 'DELETE';
  /** What follows the upstream's base address. */
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer | Readable;
}

export interface VendorCalls {
  /** A short answer, whatever its status. Throws `VendorAway`. */
  ask(reach: Reach, ask: VendorAsk): Promise<VendorAnswer>;
  /** Whether the vendor confirmed that something is gone, now or before. */
  remove(reach: Reach, ask: VendorAsk): Promise<boolean>;
  /** The bytes of an answer with status 200 as they come; else the short answer. Throws `VendorAway`. */
  open(reach: Reach, ask: VendorAsk): Promise<Readable | VendorAnswer>;
}

/** The largest answer about a batch. */
const maxAnswerBytes = 1_048_576;

export function createVendorCalls(timeouts: Pick<GatewayTimeouts, 'headersMs' | 'idleMs'>): VendorCalls {
  const request = async ({ dispatcher, origin, basePath }: Reach, ask: VendorAsk): Promise<Dispatcher.ResponseData> => {
    try {
      return await dispatcher.request({
        origin,
        path: basePath + ask.path,
        method: ask.method,
        headers: { ...ask.headers, 'accept-encoding': 'identity' },
        ...(ask.body === undefined ? {} : { body: ask.body }),
        headersTimeout: timeouts.headersMs,
        bodyTimeout: timeouts.idleMs,
      });
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      throw new VendorAway(code !== 'ECONNREFUSED' && code !== 'ENOTFOUND' && code !== 'UND_ERR_CONNECT_TIMEOUT');
    }
  };

  const whole = async ({ key }: Reach, { statusCode, body }: Dispatcher.ResponseData): Promise<VendorAnswer> => {
    const pieces: Buffer[] = [];
    let length = 0;
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        length += piece.length;
        if (length > maxAnswerBytes) throw new Error('too large');
        pieces.push(piece);
      }
    } catch {
      throw new VendorAway(true);
    }
    return { status: statusCode, body: Buffer.from(bytesWithoutSecret(key?.secret ?? null, Buffer.concat(pieces))) };
  };

  const answerTo = async (reach: Reach, ask: VendorAsk): Promise<VendorAnswer> =>
    whole(reach, await request(reach, ask));

  return {
    ask: answerTo,

    async remove(reach, ask) {
      const { status } = await answerTo(reach, ask).catch(() => ({ status: 0 }));
      return (status >= 200 && status < 300) || status === 404;
    },

    async open(reach, ask) {
      const answer = await request(reach, ask);
      return answer.statusCode === 200 ? answer.body : whole(reach, answer);
    },
  };
}

/** The longest line of results: as long as the longest answer. */
const maxLineBytes = 64 * 1_048_576;

/** The lines of a stream, without their ends; empty ones are left out. Throws for one that is too long. */
export async function* linesIn(
  stream: AsyncIterable<Buffer>,
  maxBytes = maxLineBytes,
  tooLong = () => new Error('a line of results is too long'),
): AsyncGenerator<Buffer> {
  let open: Buffer[] = [];
  let length = 0;
  for await (const piece of stream) {
    let start = 0;
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
      const line = Buffer.concat([...open, piece.subarray(start, end)]);
      if (line.length > maxBytes) throw tooLong();
      open = [];
      length = 0;
      start = end + 1;
      if (line.length > 0 && !(line.length === 1 && line[0] === 0x0d)) yield line;
    }
    if (start === piece.length) continue;
    open.push(piece.subarray(start));
    length += piece.length - start;
    if (length > maxBytes) throw tooLong();
  }
  if (length > 0) yield Buffer.concat(open);
}
