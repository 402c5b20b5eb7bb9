import { findCost } from '../account.ts';
import type { UsdAmount } from '../amounts.ts';
import type { Steyg } from '../client.ts';
import {
  ApiError,
  apiError,
  BadRequestError,
  BudgetError,
  RateLimitError,
  requestIdOf,
  ServerError,
} from '../errors.ts';
import type { LedgerEntry } from '../generated/rest.ts';
import { readEvents } from '../internal/sse.ts';
import type { Fetch } from '../options.ts';
import { messageOf } from './account.ts';
import { type CheckName, error, type Finding, passed, warning } from './finding.ts';

/** Tiny requests over both protocols, and one that is watched as it streams. */

export interface CallFinding {
  finding: Finding;
  costUsd: UsdAmount | null;
}

const ping = [{ role: 'user' as const, content: 'ping' }];
/** Room for a model that reasons first: with less, some vendors answer 400 before a word is said. Only what is used costs. */
const maxTokens = 512;

export async function checkMessages(steyg: Steyg, model: string): Promise<CallFinding> {
  return attempt('messages', model, async () => {
    const { content, steyg: call } = await steyg.messages.create({ model, max_tokens: maxTokens, messages: ping });
    if (!Array.isArray(content)) throw new Error('The answer has no content.');
    return call.costUsd;
  });
}

export async function checkChat(steyg: Steyg, model: string): Promise<CallFinding> {
  return attempt('chat completions', model, async () => {
    const { choices, steyg: call } = await steyg.chat.completions.create({
      model,
      max_tokens: maxTokens,
      messages: ping,
    });
    if (!Array.isArray(choices)) throw new Error('The answer has no choices.');
    return call.costUsd;
  });
}

async function attempt(check: CheckName, model: string, call: () => Promise<string | null>): Promise<CallFinding> {
  try {
    const costUsd = await call();
    return {
      finding: passed(check, `A request was answered${costUsd === null ? '' : ` for ${costUsd} USD`}.`),
      costUsd,
    };
  } catch (cause) {
    return failed(check, model, cause);
  }
}

/** Named with its model: another one may well answer. */
function failed(check: CheckName, model: string, cause: unknown): CallFinding {
  return { finding: error(check, `${model}: ${messageOf(cause)}`, remedyFor(cause)), costUsd: null };
}

function remedyFor(cause: unknown): string {
  if (cause instanceof BudgetError) return 'Buy budget in the console, or raise the limit of the key.';
  if (cause instanceof BadRequestError) return 'Compare the model with the list of models.';
  if (cause instanceof RateLimitError) return 'Wait until other requests have ended, then try again.';
  if (cause instanceof ServerError) return 'Look at the status page before you change your set-up.';
  if (cause instanceof ApiError) return `Quote the request id ${cause.requestId ?? ''} to support.`;
  return 'Check proxy and firewall: the address itself can be reached.';
}

export interface StreamRequest {
  steyg: Steyg;
  baseUrl: string;
  apiKey: string;
  model: string;
  fetch: Fetch;
  now: () => number;
}

/** When the pieces of a stream arrived, in milliseconds since the request was sent. */
export interface Arrivals {
  firstMs: number;
  lastMs: number;
  events: number;
  /** How long it took the service to send them, by its own account; null when it did not tell. */
  sentWithinMs: number | null;
}

/**
 * Whether something between here and the service holds a stream back until it is complete: what took the service a while
 * to send arrived within a small part of it. Where the service does not tell, a stream that took more than a second and
 * arrived within a twentieth of that.
 */
export function isHeldBack({ firstMs, lastMs, events, sentWithinMs }: Arrivals): boolean {
  if (events < 4) return false;
  const withinMs = lastMs - firstMs;
  if (sentWithinMs !== null) return sentWithinMs >= 100 && withinMs < sentWithinMs / 5;
  return lastMs > 1_000 && withinMs < lastMs / 20;
}

export async function checkStreaming(request: StreamRequest): Promise<CallFinding> {
  const { steyg, baseUrl, apiKey, model, fetch, now } = request;
  const startedAt = now();
  try {
    const response = await fetch(`${baseUrl}/v1/messages`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({
        model,
        max_tokens: maxTokens,
        stream: true,
        messages: [{ role: 'user', content: 'Count from 1 to 30, separated by spaces.' }],
      }),
    });
    if (!response.ok) throw await refusal(response);
    const type = response.headers.get('content-type') ?? 'nothing';
    if (!type.startsWith('text/event-stream') || response.body === null) {
      await response.body?.cancel();
      const message = `A stream was answered with status ${response.status} and ${type}.`;
      return { finding: error('streaming', message, noStreams), costUsd: null };
    }
    const watched = await watch(response.body, () => now() - startedAt);
    const requestId = requestIdOf(response.headers);
    const cost = requestId === null ? null : await findCost(steyg.usage, requestId).catch(() => null);
    const finding = judge(watched, cost?.entry ?? null, response.headers.get('content-encoding'));
    return { finding, costUsd: cost?.costUsd ?? null };
  } catch (cause) {
    return failed('streaming', model, cause);
  }
}

const noStreams = 'Something in between does not let event streams through: look at its settings.';

async function refusal(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const text = await response.text();
  try {
    return apiError({ status, headers, body: JSON.parse(text) as unknown });
  } catch {
    return apiError({ status, headers, body: text });
  }
}

interface Watched {
  arrivals: Omit<Arrivals, 'sentWithinMs'>;
  /** Type of the last event. */
  last: string | null;
}

async function watch(body: ReadableStream<Uint8Array>, sinceMs: () => number): Promise<Watched> {
  const arrivals = { firstMs: 0, lastMs: 0, events: 0 };
  let last: string | null = null;
  for await (const event of readEvents(pieces(body))) {
    arrivals.lastMs = sinceMs();
    if (arrivals.events === 0) arrivals.firstMs = arrivals.lastMs;
    arrivals.events += 1;
    last = event.type;
  }
  return { arrivals, last };
}

function judge({ arrivals, last }: Watched, entry: LedgerEntry | null, encoding: string | null): Finding {
  if (last !== 'message_stop') {
    const remedy = 'If it happens again, something in between cuts long answers: look at its time-outs.';
    return error('streaming', 'A stream ended before its last event.', remedy);
  }
  const firstByteMs = entry?.timeToFirstByteMs ?? null;
  const sentWithinMs = entry === null || firstByteMs === null ? null : entry.latencyMs - firstByteMs;
  const { firstMs, lastMs, events } = arrivals;
  if (isHeldBack({ ...arrivals, sentWithinMs })) {
    return warning(
      'streaming',
      `A stream arrived all at once, after ${Math.round(lastMs)} ms: something in between holds it back.`,
      'Switch buffering off for this address (nginx: proxy_buffering off), and compression of text/event-stream.',
    );
  }
  if (encoding !== null && encoding !== 'identity') {
    return warning(
      'streaming',
      `A stream arrived compressed (${encoding}), which something in between does.`,
      'Switch compression of text/event-stream off there: it holds events back.',
    );
  }
  return passed(
    'streaming',
    `${events} events, the first after ${Math.round(firstMs)} ms, the last after ${Math.round(lastMs)} ms.`,
  );
}

async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}
