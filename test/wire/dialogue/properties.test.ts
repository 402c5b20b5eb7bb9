import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonProgress } from '../../../server/wire/dialogue/answers/json-progress.ts';
import { createFreeText } from '../../../server/wire/dialogue/free-text.ts';
import { parseJson, stringifyJson } from '../../../server/wire/dialogue/json.ts';
import { decodeToolId, encodeToolId } from '../../../server/wire/dialogue/tool-ids.ts';
import { bytes, C_TO_M, type Direction, eventsOf, exchange, M_TO_C, R_TO_C, sse, text, translate } from './support.ts';

/** Properties of translation that hold for any text and any cut of a stream. */

const anyText = fc.string({ unit: 'binary', maxLength: 20 });
const visibleText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((value) => value.trim() !== '');
const toolName = fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/);
const conformingId = fc.stringMatching(/^[a-zA-Z0-9_-]{1,30}$/).filter((id) => !id.startsWith('toolu_gw'));
const anyId = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  conformingId,
  conformingId.map((id) => `toolu_gw_${id}`),
);

/** Numbers as JSON may spell them, most of which JavaScript would respell. */
const numberText = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '1e2', '1E+2', '12345678901234567890', '0.10', '-1.50e-07', '1e400'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.bigInt().map(String),
);
const { json: jsonText } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    numberText,
    fc.constantFrom('true', 'false', 'null'),
    anyText.map((value) => JSON.stringify(value)),
    fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    objectOf(tie('json')),
  ),
}));
/** Keys that JavaScript would not put into another order. */
function objectOf(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .uniqueArray(fc.tuple(fc.oneof(visibleText, fc.constantFrom('__proto__', 'constructor')), value), {
      maxLength: 4,
      selector: ([key]) => key,
    })
    .map((members) => members.filter(([key]) => !/^\d+$/.test(key)))
    .map((members) => `{${members.map(([key, member]) => `${JSON.stringify(key)}:${member}`).join(',')}}`);
}
const argumentsText = objectOf(jsonText);

describe('tool ids', () => {
  test('any id becomes one that the messages protocol takes, and comes back', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyId,
          anyText.filter((id) => id !== ''),
        ),
        (id) => {
          const encoded = encodeToolId(id);
          expect(encoded).toMatch(/^[a-zA-Z0-9_-]+$/);
          expect(decodeToolId(encoded)).toBe(id);
        },
      ),
    );
  });

  test('no two ids become one', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.boolean(), (one, other, wrap) => {
        const rival = wrap ? encodeToolId(one) : other;
        expect(encodeToolId(one) === encodeToolId(rival)).toBe(one === rival);
      }),
    );
    expect(encodeToolId('\ud800')).not.toBe(encodeToolId('\udc00'));
  });

  test('ids of the vendors stay as they are', () => {
    for (const id of ['toolu_01AbC', 'call_0-x', 'chatcmpl-tool-1']) {
      expect(encodeToolId(id)).toBe(id);
      expect(decodeToolId(id)).toBe(id);
    }
    expect(decodeToolId('toolu_gw_not canonical')).toBe('toolu_gw_not canonical');
  });
});

describe('JSON', () => {
  test('every number keeps its spelling, every key its name', () => {
    fc.assert(
      fc.property(jsonText, (json) => {
        expect(stringifyJson(parseJson(json))).toBe(json);
      }),
    );
  });

  test('an object is complete with its last character and not before', () => {
    fc.assert(
      fc.property(argumentsText, fc.nat(), (json, cut) => {
        const progress = new JsonProgress();
        const at = cut % json.length;
        progress.feed(json.slice(0, at));
        expect(progress.complete).toBe(false);
        progress.feed(json.slice(at));
        expect(progress.complete).toBe(true);
      }),
    );
  });

  test('free text leaves its stand-in unharmed', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(), { maxLength: 3 }), (source, cuts) => {
        const free = createFreeText();
        const out = pieces(JSON.stringify({ input: source }), cuts).map((piece) => free.push(piece));
        expect([...out, free.end()].join('')).toBe(source);
      }),
    );
  });
});

function pieces(whole: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return places.slice(1).map((end, index) => whole.slice(places[index], end));
}

interface Call {
  id: string;
  name: string;
  text: string;
  result: string;
}

const callsOf = (id: fc.Arbitrary<string>) =>
  fc.uniqueArray(
    fc.record({ id, name: toolName, text: argumentsText, result: fc.string({ unit: 'grapheme', maxLength: 10 }) }),
    {
      maxLength: 3,
      selector: (call) => call.id,
    },
  );
const roundsOf = (id: fc.Arbitrary<string>) =>
  fc.array(fc.record({ said: fc.option(visibleText), calls: callsOf(id), next: visibleText }), { maxLength: 3 });

describe('conversations', () => {
  test('36 41 43 54 55 56 chat -> messages -> chat keeps texts, ids, arguments, results and their order', () => {
    fc.assert(
      fc.property(fc.option(visibleText), visibleText, roundsOf(anyId), (system, first, rounds) => {
        const messages = [
          ...(system === null ? [] : [{ role: 'system', content: system }]),
          { role: 'user', content: first },
          ...rounds.flatMap(({ said, calls, next }) => [
            ...(said === null && calls.length === 0 ? [] : [chatAnswer(said, calls)]),
            ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
            { role: 'user', content: next },
          ]),
        ];
        const back = JSON.parse(again(M_TO_C, again(C_TO_M, { model: 'cat-1', messages: joinUsers(messages) })));
        expect(back.messages).toEqual(joinUsers(messages));
      }),
    );
  });

  test('36 41 43 54 55 56 messages -> chat -> messages keeps them too', () => {
    fc.assert(
      fc.property(visibleText, visibleText, roundsOf(conformingId), (system, first, rounds) => {
        const messages: { role: string; content: unknown[] }[] = [{ role: 'user', content: [said(first)] }];
        for (const { said: answer, calls, next } of rounds) {
          if (answer === null && calls.length === 0) continue;
          messages.push({
            role: 'assistant',
            content: [
              ...(answer === null ? [] : [said(answer)]),
              ...calls.map(({ id, name, text }) => ({ type: 'tool_use', id, name, input: parseJson(text) })),
            ],
          });
          messages.push({
            role: 'user',
            content: [
              ...calls.map(({ id, result }) => ({
                type: 'tool_result',
                tool_use_id: id,
                ...(result === '' ? {} : { content: result }),
              })),
              said(next),
            ],
          });
        }
        const body = { model: 'cat-1', max_tokens: 9, system: [said(system)], messages };
        const back = again(C_TO_M, again(M_TO_C, body));
        expect(back).toBe(stringifyJson({ model: 'up-1', max_tokens: 9, system: [said(system)], messages }));
      }),
    );
  });
});

function chatAnswer(said: string | null, calls: readonly Call[]): Record<string, unknown> {
  const tool_calls = calls.map(({ id, name, text }) => ({ id, type: 'function', function: { name, arguments: text } }));
  return { role: 'assistant', content: said, ...(calls.length === 0 ? {} : { tool_calls }) };
}

/** Neighbouring user messages are one turn to the other protocol: the generator must not make any. */
function joinUsers(messages: Record<string, unknown>[]): Record<string, unknown>[] {
  return messages.filter((message, index) => message.role !== 'user' || messages[index - 1]?.role !== 'user');
}

/** The translated body, with the model's name put back in what was translated before. */
function again(direction: Direction, body: unknown): string {
  return translate(direction, typeof body === 'string' ? body.replace('"up-1"', '"cat-1"') : stringifyJson(body));
}

/** Arguments by call id. */
function wholeOf(calls: readonly Call[]): Record<string, string> {
  return Object.fromEntries(calls.map(({ id, text: whole }) => [id, whole]));
}

function upstreamOf(deltas: readonly unknown[]): Uint8Array {
  const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta: { tool_calls: [delta] } }] }));
  const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
  return bytes(sse('chat-completions', [...chunks, finish, '[DONE]']));
}

const said = (value: string) => ({ type: 'text', text: value });

describe('streams', () => {
  const scheduled = fc
    .tuple(callsOf(anyId), fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), fc.infiniteStream(fc.nat()))
    .map(([calls, cuts, order]) => {
      const queues = calls.map(({ id, name, text: whole }, index) =>
        pieces(whole, cuts.slice(index * 2, index * 2 + 2)).map((piece, part) => ({
          index,
          ...(part === 0 ? { id, function: { name, arguments: piece } } : { function: { arguments: piece } }),
        })),
      );
      const deltas: unknown[] = [];
      while (queues.some((queue) => queue.length > 0)) {
        const open = queues.filter((queue) => queue.length > 0);
        deltas.push((open[order.next().value % open.length] as unknown[]).shift());
      }
      return { calls, deltas };
    });

  test('however the pieces of parallel calls are mixed, a messages client gets each call whole', () => {
    fc.assert(
      fc.property(scheduled, ({ calls, deltas }) => {
        const stream = exchange(M_TO_C, { stream: true }).stream();
        const got = new Map<string, string>();
        let open = '';
        for (const event of eventsOf(text(stream.write(upstreamOf(deltas))))) {
          const [type, data] = event as [string, { content_block: { id: string }; delta: { partial_json: string } }];
          if (type === 'content_block_start') got.set((open = decodeToolId(data.content_block.id)), '');
          if (type === 'content_block_delta') got.set(open, (got.get(open) ?? '') + data.delta.partial_json);
        }
        expect(stream.state).toBe('terminated');
        expect(Object.fromEntries(got)).toEqual(wholeOf(calls));
      }),
    );
  });

  test('and a responses client too', () => {
    fc.assert(
      fc.property(scheduled, ({ calls, deltas }) => {
        const stream = exchange(R_TO_C, { stream: true }).stream();
        const events = eventsOf(text(stream.write(upstreamOf(deltas)))) as [
          string,
          { item: { call_id: string; arguments: string } },
        ][];
        const done = events
          .filter(([type]) => type === 'response.output_item.done')
          .map(([, { item }]) => [item.call_id, item.arguments]);
        expect(Object.fromEntries(done)).toEqual(wholeOf(calls));
      }),
    );
  });
});
