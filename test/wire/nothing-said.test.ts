import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import type { WireExchange, WireStream } from '../../server/wire/protocol.ts';
import { bytes, exchange, text } from './dialogue/support.ts';
import { exchangeWith } from './fixtures.ts';
import { meaningOf, streamedMeaning } from './recorded/meaning.ts';

/**
 * Vendors fill the members that they do not use with whatever their language has for nothing. Every member that an object of
 * an answer may have is added to every object that lacks it, as each kind of nothing: the answer stays what it was.
 */

interface Shape {
  what: string;
  protocol: Protocol;
  events?: (string | Record<string, unknown>)[];
  response?: Record<string, unknown>;
  fails?: true;
}

const shapes = readFileSync(new URL('recorded/shapes.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Shape)
  .filter(({ fails }) => fails !== true);
const clients: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

const nothings: readonly unknown[] = [null, '', [], {}, false];

/** By protocol, where an object stands (a path with `*` for list places) and what may be missing from it. */
const members: Record<Protocol, Record<string, readonly string[]>> = {
  messages: {
    '': ['error', 'container', 'stop_details', 'stop_sequence', 'context_management', 'diagnostics'],
    message: ['container', 'stop_details', 'stop_sequence', 'stop_reason'],
    'content.*': ['citations', 'cache_control', 'caller'],
    content_block: ['citations', 'caller', 'signature'],
    delta: ['stop_sequence', 'stop_details', 'container', 'citation'],
    usage: ['cache_creation', 'server_tool_use', 'iterations', 'output_tokens_details', 'service_tier', 'speed'],
    'message.usage': ['cache_creation', 'server_tool_use', 'iterations', 'output_tokens_details', 'service_tier'],
  },
  'chat-completions': {
    '': ['error', 'system_fingerprint', 'service_tier', 'x_groq', 'citations', 'prompt_filter_results', 'provider'],
    'choices.*': ['error', 'logprobs', 'content_filter_results', 'usage', 'message', 'text', 'native_finish_reason'],
    'choices.*.message': [
      'refusal',
      'tool_calls',
      'function_call',
      'reasoning',
      'reasoning_content',
      'reasoning_details',
      'audio',
      'annotations',
      'images',
    ],
    'choices.*.delta': [
      'refusal',
      'tool_calls',
      'function_call',
      'reasoning',
      'reasoning_content',
      'reasoning_details',
      'audio',
      'annotations',
      'images',
      'role',
    ],
    usage: [
      'prompt_tokens_details',
      'completion_tokens_details',
      'cost_details',
      'prompt_token_details',
      'server_tool_use',
      'num_search_queries',
      'prompt_audio_seconds',
    ],
  },
  responses: {
    '': ['error', 'incomplete_details', 'obfuscation', 'logprobs'],
    response: ['error', 'incomplete_details', 'metadata', 'reasoning', 'text', 'usage'],
    item: ['summary', 'encrypted_content', 'namespace', 'action'],
    'output.*': ['summary', 'encrypted_content', 'namespace', 'action', 'phase'],
    'output.*.content.*': ['annotations', 'logprobs', 'refusal'],
    part: ['annotations', 'logprobs'],
    usage: ['input_tokens_details', 'output_tokens_details', 'server_side_tool_usage_details'],
    'response.usage': ['input_tokens_details', 'output_tokens_details'],
  },
};

/** The value with `name` as nothing in every object at this place that lacks it; null when there is no such object. */
function withNothing(value: unknown, place: string, name: string, nothing: unknown): unknown {
  let changed = false;
  const walk = (at: unknown, path: readonly string[]): unknown => {
    const [step, ...rest] = path;
    if (Array.isArray(at)) return step === '*' ? at.map((item) => walk(item, rest)) : at;
    if (typeof at !== 'object' || at === null) return at;
    if (step !== undefined) {
      const own = (at as Record<string, unknown>)[step];
      return own === undefined ? at : { ...at, [step]: walk(own, rest) };
    }
    if (name in at) return at;
    changed = true;
    return { ...at, [name]: nothing };
  };
  const walked = walk(value, place === '' ? [] : place.split('.'));
  return changed ? walked : null;
}

function open({ protocol }: Shape, client: Protocol, stream: boolean): Pick<WireExchange, 'reply' | 'stream'> {
  const sent = stream ? { stream: true } : {};
  if (client === protocol) return exchangeWith(client, sent);
  const { reply, stream: streamed } = exchange({ client, upstream: protocol }, sent);
  return { reply: (body) => reply(text(body)), stream: streamed };
}

function streamText(protocol: Protocol, events: readonly unknown[]): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return event.startsWith(':') ? `${event}\n\n` : `data: ${event}\n\n`;
      const type = (event as { type?: unknown }).type;
      const name = protocol === 'chat-completions' ? '' : `event: ${String(type)}\n`;
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

function dataOf(out: string): unknown[] {
  return out
    .split('\n\n')
    .flatMap((block) => block.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => line.slice(6))
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as unknown);
}

function run(stream: WireStream, whole: string): string {
  const out = text(stream.write(bytes(whole))) + text(stream.end());
  if (stream.state !== 'finished') return out;
  return out + text(stream.stop({ reason: 'upstream', status: 502, type: 'api_error', message: 'cut' }));
}

const variants = (protocol: Protocol): [place: string, name: string, nothing: unknown][] =>
  Object.entries(members[protocol]).flatMap(([place, names]) =>
    names.flatMap((name) => nothings.map((nothing): [string, string, unknown] => [place, name, nothing])),
  );

describe.each(clients)('for clients of %s', (client) => {
  test.each(shapes.filter(({ response }) => response !== undefined))('whole: $what', (shape) => {
    const read = (answer: unknown) => {
      const { body, account } = open(shape, client, false).reply(bytes(JSON.stringify(answer)));
      // Natively the vendor's bytes pass, and what they say is theirs.
      const meaning = client === shape.protocol ? null : meaningOf(client, JSON.parse(text(body)));
      return { meaning, usage: account.usage, bytes: account.outputBytes };
    };
    const expected = read(shape.response);
    const wrong: string[] = [];
    for (const [place, name, nothing] of variants(shape.protocol)) {
      const answer = withNothing(shape.response, place, name, nothing);
      if (answer === null) continue;
      try {
        expect(read(answer)).toEqual(expected);
      } catch (problem) {
        wrong.push(`${place}.${name} = ${JSON.stringify(nothing)}: ${String(problem).slice(0, 200)}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each(shapes.filter(({ events }) => events !== undefined))('stream: $what', (shape) => {
    const { events = [], protocol } = shape;
    const read = (sent: readonly unknown[]) => {
      const stream = open(shape, client, true).stream();
      const out = run(stream, streamText(protocol, sent));
      const account = stream.account();
      const meaning = client === protocol ? null : streamedMeaning(client, dataOf(out));
      return { meaning, state: stream.state, error: stream.error, usage: account.usage, bytes: account.outputBytes };
    };
    const expected = read(events);
    const wrong: string[] = [];
    for (const [place, name, nothing] of variants(protocol)) {
      let changed = false;
      const sent = events.map((event) => {
        const other = typeof event === 'string' ? null : withNothing(event, place, name, nothing);
        changed ||= other !== null;
        return other ?? event;
      });
      if (!changed) continue;
      try {
        expect(read(sent)).toEqual(expected);
      } catch (problem) {
        wrong.push(`${place}.${name} = ${JSON.stringify(nothing)}: ${String(problem).slice(0, 200)}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
