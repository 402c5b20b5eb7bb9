import { request } from 'undici';

/**
 * A probe: the smallest request that a customer could send, through the public address, judged by its answer. It knows
 * nothing of the gateway's inside, so that it can run from any machine.
 */

export type ProbeProtocol = 'messages' | 'chat-completions' | 'responses';
export type ProbeMode = 'stream' | 'plain';

export interface ProbeTarget {
  /** A catalog id. */
  model: string;
  protocol: ProbeProtocol;
  mode: ProbeMode;
}

export interface ProbeResult extends ProbeTarget {
  startedAt: Date;
  outcome: 'up' | 'down' | 'no_data';
  /** Why it was not up; null when it was. */
  reason: string | null;
  status: number | null;
  /** Until the last byte; null when no answer was complete. */
  latencyMs: number | null;
  timeToFirstByteMs: number | null;
}

export const probeProtocols: readonly ProbeProtocol[] = ['messages', 'chat-completions', 'responses'];
export const probeModes: readonly ProbeMode[] = ['plain', 'stream'];

const paths: Record<ProbeProtocol, string> = {
  messages: '/v1/messages',
  'chat-completions': '/v1/chat/completions',
  responses: '/v1/responses',
};

/** Where models of embeddings are asked; the refusal of all other addresses names it. */
const embeddingsPath = '/v1/embeddings';

/** One answer, read to its end; `text` is null where it is too large. */
interface Whole {
  status: number;
  text: string | null;
  timeToFirstByteMs: number | null;
}

const question = 'Reply with the single word: pong';
/**
 * Room for a model that cannot be kept from reasoning: some vendors answer 400 when it uses the cap up before it has said
 * anything (https://github.com/nextlevelbuilder/goclaw/issues/245). Only what is used costs.
 */
const maxTokens = 512;
const capTooLow = 'Could not finish the message because max_tokens or model output limit was reached';
const largestAnswer = 1_048_576;

/**
 * Sends one probe. `baseUrl` is the API root (it ends in `/api`). Never throws, except when `signal` aborts it: an
 * aborted probe says nothing about the model.
 */
export async function probe(options: {
  baseUrl: string;
  apiKey: string;
  target: ProbeTarget;
  timeoutMs: number;
  signal?: AbortSignal;
}): Promise<ProbeResult> {
  const { baseUrl, apiKey, target, timeoutMs, signal } = options;
  const startedAt = new Date();
  const start = performance.now();
  const elapsed = () => Math.round(performance.now() - start);
  const result = (found: Partial<ProbeResult> & Pick<ProbeResult, 'outcome'>): ProbeResult => ({
    ...target,
    startedAt,
    reason: null,
    status: null,
    latencyMs: null,
    timeToFirstByteMs: null,
    ...found,
  });

  const timeout = AbortSignal.timeout(timeoutMs);
  const send = async (path: string, body: object): Promise<Whole> => {
    const { statusCode: status, body: answer } = await request(`${baseUrl}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        authorization: `Bearer ${apiKey}`,
        ...(target.protocol === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}),
      },
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    let timeToFirstByteMs: number | null = null;
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      timeToFirstByteMs ??= elapsed();
      text += decoder.decode(chunk, { stream: true });
      if (text.length > largestAnswer) return { status, text: null, timeToFirstByteMs };
    }
    return { status, text, timeToFirstByteMs };
  };
  try {
    const first = await send(paths[target.protocol], requestBody(target));
    // A prober knows ids alone; a model of the other kind says so itself, at no cost.
    const embeds = first.status === 400 && first.text?.includes(embeddingsPath) === true;
    const { status, text, timeToFirstByteMs } = embeds
      ? await send(embeddingsPath, embeddingBody(target.model))
      : first;
    if (text === null) return result({ outcome: 'down', reason: 'answer_too_large', status });
    const measured = { status, latencyMs: elapsed(), timeToFirstByteMs };
    if (status !== 200) return result({ ...judgeRefusal(status, text), ...measured, latencyMs: null });
    return (embeds ? isEmbedding(text) : isAnswer(target, text))
      ? result({ outcome: 'up', ...measured })
      : result({ outcome: 'down', reason: 'malformed_answer', ...measured });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return result({ outcome: 'down', reason: timeout.aborted ? 'timeout' : 'no_connection' });
  }
}

function requestBody({ model, protocol, mode }: ProbeTarget): object {
  const stream = mode === 'stream';
  if (protocol === 'responses') return { model, input: question, max_output_tokens: maxTokens, store: false, stream };
  return { model, max_tokens: maxTokens, messages: [{ role: 'user', content: question }], stream };
}

function embeddingBody(model: string): object {
  return { model, input: 'ping' };
}

/** Larger bodies are no probes: a model's id is at most 256 characters. */
const largestBody = 1_024;

/** Whether a body that was sent to an address (without the API root) is a probe's own, to the last byte. */
export function isProbe(path: string, body: Buffer): boolean {
  if (body.length > largestBody) return false;
  const { model } = parseObject(body.toString()) ?? {};
  if (typeof model !== 'string') return false;
  const bodies =
    path === embeddingsPath
      ? [embeddingBody(model)]
      : probeProtocols
          .filter((protocol) => paths[protocol] === path)
          .flatMap((protocol) => probeModes.map((mode) => requestBody({ model, protocol, mode })));
  return bodies.some((each) => body.equals(Buffer.from(JSON.stringify(each))));
}

/**
 * Refusals by the probe's own fault (its key, its budget, its limits, a model that has just left the catalog) say
 * nothing about the model.
 */
function judgeRefusal(status: number, body: string): Pick<ProbeResult, 'outcome' | 'reason'> {
  const own =
    [401, 402, 403, 429].includes(status) ||
    (status === 400 && (body.includes('is not available in the service') || body.includes(capTooLow)));
  return { outcome: own ? 'no_data' : 'down', reason: `status_${status}` };
}

function isAnswer(target: ProbeTarget, text: string): boolean {
  return target.mode === 'stream' ? isWholeStream(target.protocol, text) : isWholeObject(target.protocol, text);
}

function isWholeObject(protocol: ProbeProtocol, text: string): boolean {
  const value = parseObject(text);
  if (protocol === 'messages') return value?.['type'] === 'message' && Array.isArray(value['content']);
  if (protocol === 'chat-completions') return Array.isArray(value?.['choices']) && value['choices'].length > 0;
  return value?.['object'] === 'response' && ['completed', 'incomplete'].includes(String(value['status']));
}

function isEmbedding(text: string): boolean {
  const [first] = (parseObject(text)?.['data'] ?? []) as { embedding?: unknown }[];
  return Array.isArray(first?.embedding) && first.embedding.length > 0;
}

/** A stream is complete when its closing event came and none of its events was an error. */
function isWholeStream(protocol: ProbeProtocol, text: string): boolean {
  const data = text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim());
  const events = data.filter((line) => line !== '[DONE]').map(parseObject);
  if (events.some((event) => event === null || isError(event))) return false;
  if (protocol === 'chat-completions') return events.length > 0 && data.at(-1) === '[DONE]';
  const last = String(events.at(-1)?.['type']);
  return protocol === 'messages'
    ? last === 'message_stop'
    : ['response.completed', 'response.incomplete'].includes(last);
}

function isError(event: Record<string, unknown>): boolean {
  const type = event['type'];
  return type === 'error' || type === 'response.failed' || (type === undefined && event['error'] !== undefined);
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
