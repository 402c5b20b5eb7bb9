import { z } from 'zod';
import type { Protocol } from '../../core/protocol.ts';

/** Reads recorded exchanges with a vendor: a HAR file, or one JSON object a line. */

/** One request to a vendor and its answer, as bytes. */
export interface RecordedExchange {
  /** The protocol of the recorded exchange. */
  upstream: Protocol;
  /** The request's body; null where it was not recorded. */
  request: Buffer | null;
  status: number;
  isStream: boolean;
  response: Buffer;
}

/** The file, or one of its exchanges, cannot be used. Its message quotes nothing of the file. */
export class UnusableRecording extends Error {
  override name = 'UnusableRecording';
}

const harEntry = z.object({
  request: z.object({ url: z.string(), postData: z.object({ text: z.string() }).optional() }),
  response: z.object({
    status: z.number(),
    content: z.object({
      mimeType: z.string().default(''),
      text: z.string().default(''),
      encoding: z.string().optional(),
    }),
  }),
});
const har = z.object({ log: z.object({ entries: z.array(z.unknown()) }) });

const body = z.union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())]);
const line = z.object({
  /** Any URL or path that ends in the protocol's path. */
  url: z.string(),
  request: body.optional(),
  status: z.number().default(200),
  /** The body as text, which keeps its every byte, or as JSON. */
  response: body,
});

/** Throws `UnusableRecording`. Exchanges with paths outside of the three protocols are ignored. */
export function readRecording(text: string): RecordedExchange[] {
  const whole = har.safeParse(jsonOf(text));
  if (whole.success) return whole.data.log.entries.flatMap((entry, index) => readHarEntry(entry, index));
  const lines = text.split('\n').filter((each) => each.trim() !== '');
  if (lines.length === 0) throw new UnusableRecording('The file is empty.');
  return lines.flatMap((each, index) => readLine(each, index));
}

function readHarEntry(entry: unknown, index: number): RecordedExchange[] {
  const parsed = harEntry.safeParse(entry);
  if (!parsed.success) throw new UnusableRecording(`Entry ${index + 1} is not what HAR calls an entry.`);
  const { request, response } = parsed.data;
  const { text, encoding, mimeType } = response.content;
  return recorded(request.url, request.postData?.text ?? null, {
    status: response.status,
    response: Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8'),
    type: mimeType,
  });
}

function readLine(text: string, index: number): RecordedExchange[] {
  const parsed = line.safeParse(jsonOf(text));
  if (!parsed.success) throw new UnusableRecording(`Line ${index + 1} needs \`url\` and \`response\`.`);
  const { url, request, status, response } = parsed.data;
  const sent = request === undefined ? null : asText(request);
  return recorded(url, sent, { status, response: Buffer.from(asText(response)), type: '' });
}

function recorded(
  url: string,
  request: string | null,
  answer: { status: number; response: Buffer; type: string },
): RecordedExchange[] {
  const upstream = protocolOf(url);
  if (upstream === null) return [];
  const { status, response, type } = answer;
  const isStream =
    type.startsWith('text/event-stream') || /^\s*(?:event|data|id|retry)?:/.test(response.toString('utf8', 0, 64));
  return [{ upstream, request: request === null ? null : Buffer.from(request), status, isStream, response }];
}

function protocolOf(url: string): Protocol | null {
  const path = url.replace(/[?#].*$/s, '').replace(/\/$/, '');
  if (path.endsWith('/messages')) return 'messages';
  if (path.endsWith('/chat/completions')) return 'chat-completions';
  return path.endsWith('/responses') ? 'responses' : null;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
