import { findCost } from '../account.ts';
import type { Steyg } from '../client.ts';
import { ApiError, BadRequestError, BudgetError, requestIdOf, ServerError } from '../errors.ts';
import { readEvents } from '../internal/sse.ts';
import type { Fetch } from '../options.ts';
import { messageOf } from './account.ts';
import { type CheckName, error, type Finding, ok, warning } from './finding.ts';

/** Tiny requests over both protocols, and one that is watched as it streams. */

export interface CallFinding {
  finding: Finding;
  costUsd: string | null;
}

const ping = [{ role: 'user' as const, content: 'ping' }];

export async function checkMessages(steyg: Steyg, model: string): Promise<CallFinding> {
  return attempt('messages', async () => {
    const { content, steyg: call } = await steyg.messages.create({ model, max_tokens: 16, messages: ping });
    if (!Array.isArray(content)) throw new Error('The answer has no content.');
    return call.costUsd;
  });
}

export async function checkChat(steyg: Steyg, model: string): Promise<CallFinding> {
  return attempt('chat completions', async () => {
    const { choices, steyg: call } = await steyg.chat.completions.create({ model, max_tokens: 16, messages: ping });
    if (!Array.isArray(choices)) throw new Error('The answer has no choices.');
    return call.costUsd;
  });
}

async function attempt(check: CheckName, call: () => Promise<string | null>): Promise<CallFinding> {
  try {
    const costUsd = await call();
    return { finding: ok(check, `A request was answered${costUsd === null ? '' : ` for ${costUsd} USD`}.`), costUsd };
  } catch (cause) {
    return { finding: error(check, messageOf(cause), remedyFor(cause)), costUsd: null };
  }
}

function remedyFor(cause: unknown): string {
  if (cause instanceof BudgetError) return 'Buy budget in the console, or raise the limit of the key.';
  if (cause instanceof BadRequestError) return 'Compare the model with the list of models.';
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
}

/**
 * Whether something between here and the service holds a stream back until it is complete. A stream that took more than
 * a second to make and arrived within a twentieth of that has been held back.
 */
export function isHeldBack({ firstMs, lastMs, events }: Arrivals): boolean {
  return events >= 4 && lastMs > 1_000 && lastMs - firstMs < lastMs / 20;
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
        max_tokens: 96,
        stream: true,
        messages: [{ role: 'user', content: 'Count from 1 to 30, separated by spaces.' }],
      }),
    });
    const finding = await watch(response, () => now() - startedAt);
    const requestId = requestIdOf(response.headers);
    const cost = requestId === null || !response.ok ? null : await findCost(steyg.usage, requestId).catch(() => null);
    return { finding, costUsd: cost?.costUsd ?? null };
  } catch (cause) {
    return { finding: error('streaming', messageOf(cause), 'Check proxy and firewall.'), costUsd: null };
  }
}

async function watch(response: Response, sinceMs: () => number): Promise<Finding> {
  const type = response.headers.get('content-type') ?? 'nothing';
  if (!response.ok || !type.startsWith('text/event-stream') || response.body === null) {
    await response.body?.cancel();
    const remedy = 'Something in between does not let event streams through: look at its settings.';
    return error('streaming', `A stream was answered with status ${response.status} and ${type}.`, remedy);
  }
  const arrivals: Arrivals = { firstMs: 0, lastMs: 0, events: 0 };
  let last: string | null = null;
  for await (const event of readEvents(pieces(response.body))) {
    arrivals.lastMs = sinceMs();
    if (arrivals.events === 0) arrivals.firstMs = arrivals.lastMs;
    arrivals.events += 1;
    last = event.type;
  }
  if (last !== 'message_stop') {
    const remedy = 'If it happens again, something in between cuts long answers: look at its time-outs.';
    return error('streaming', 'A stream ended before its last event.', remedy);
  }
  const encoding = response.headers.get('content-encoding');
  if (isHeldBack(arrivals)) {
    return warning(
      'streaming',
      `A stream arrived all at once, after ${Math.round(arrivals.lastMs)} ms: something in between holds it back.`,
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
  const { firstMs, lastMs, events } = arrivals;
  return ok(
    'streaming',
    `${events} events, the first after ${Math.round(firstMs)} ms, the last after ${Math.round(lastMs)} ms.`,
  );
}

async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}
