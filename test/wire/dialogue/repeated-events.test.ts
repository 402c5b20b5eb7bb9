import { Buffer } from 'node:buffer';
import { array, assert, boolean, constantFrom, oneof, property, record, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytes, DIRECTIONS, exchange, relay } from './support.ts';

/**
 * Events that repeat the one before with another word are not read anew. A stream that comes byte by byte is read event by event,
 * so that both ways can be compared.
 */

/** Words that stand elsewhere in events, that end strings, that are escaped, and that two bytes make. */
const oddWords = [
  'content',
  'text',
  'text_delta',
  ',',
  ':',
  '"',
  '\\',
  '\\"',
  '\n\t',
  'é',
  '🙂',
  'a/b',
  '\u2028',
  '\u0001',
  '',
  '§',
];
const word = oneof(constantFrom(...oddWords), string({ maxLength: 6 }));
const piece = record({
  kind: constantFrom('text', 'text', 'text', 'reasoning', 'arguments', 'comment', 'ping'),
  word,
  /** Spelled with escapes that are not needed. */
  isEscaped: constantFrom(false, false, false, true),
  isObfuscated: boolean(),
});
type Piece = typeof piece extends { generate(...args: never[]): { value: infer Value } } ? Value : never;

const opening: Record<string, string[]> = {
  'chat-completions': ['{"id":"x","model":"up-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}'],
  messages: [
    '{"type":"message_start","message":{"model":"up-1","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"look","input":{}}}',
    '{"type":"content_block_stop","index":0}',
  ],
  responses: ['{"type":"response.created","response":{"model":"up-1"}}'],
};

function eventOf(upstream: string, { kind, word: said, isEscaped, isObfuscated }: Piece): string {
  if (kind === 'comment') return ': alive\n\n';
  const json = JSON.stringify(said);
  const text = isEscaped ? json.replaceAll('/', '\\/').replaceAll('a', '\\u0061') : json;
  const noise = isObfuscated ? `,"obfuscation":"${'x'.repeat(said.length)}"` : '';
  if (kind === 'ping') return upstream === 'messages' ? 'event: ping\ndata: {"type": "ping"}\n\n' : ': ping\n\n';
  if (upstream === 'chat-completions') {
    const delta = {
      text: `{"content":${text}}`,
      reasoning: `{"reasoning_content":${text}}`,
      arguments: `{"tool_calls":[{"index":0,"id":"c","function":{"name":"look","arguments":${text}}}]}`,
    }[kind];
    return `data: {"id":"x","choices":[{"index":0,"delta":${delta},"finish_reason":null}]${noise}}\n\n`;
  }
  if (upstream === 'messages') {
    const delta = {
      text: `"index":1,"delta":{"type":"text_delta","text":${text}}`,
      reasoning: `"index":2,"delta":{"type":"thinking_delta","thinking":${text}}`,
      arguments: `"index":0,"delta":{"type":"input_json_delta","partial_json":${text}}`,
    }[kind];
    return `event: content_block_delta\ndata: {"type":"content_block_delta",${delta}${noise}}\n\n`;
  }
  const named = { text: 'output_text', reasoning: 'reasoning_summary_text', arguments: 'function_call_arguments' }[
    kind
  ];
  return `data: {"type":"response.${named}.delta","output_index":0,"delta":${text}${noise}}\n\n`;
}

describe.each(DIRECTIONS)('$upstream upstream, $client client', (direction) => {
  it('an event that repeats the one before says what it would say alone', () => {
    const { upstream } = direction;
    assert(
      property(array(piece, { minLength: 2, maxLength: 12 }), (pieces) => {
        const begun = (opening[upstream] ?? []).map((data) => `data: ${data}\n\n`).join('');
        // Half a character, which no encoder writes.
        const stream = Buffer.from(
          Buffer.from(begun + pieces.map((each) => eventOf(upstream, each)).join(''))
            .toString('latin1')
            .replaceAll('\u00c2\u00a7', '\u00c2'),
          'latin1',
        );
        const exchanged = exchange(direction, { stream: true });
        const [atOnce, apart, alone] = [exchanged.stream(), exchanged.stream(), exchanged.stream()];
        const expected = relay(
          alone,
          Array.from(stream, (byte) => Uint8Array.of(byte)),
        );
        const events = stream.toString('latin1').split(/(?<=\n\n)/);
        const each = events.map((event) => Buffer.from(event, 'latin1'));
        expect(relay(atOnce, [stream])).toBe(expected);
        expect(relay(apart, each)).toBe(expected);
        expect(atOnce.account()).toEqual(alone.account());
        expect(apart.account()).toEqual(alone.account());
        expect(apart.state).toBe(alone.state);
      }),
      { numRuns: 300 },
    );
  });

  it('the length of a long answer does not matter to what it says', () => {
    const words = Array.from({ length: 200 }, (_, index) => `word ${index} `);
    const { upstream } = direction;
    const events = words.map((said) =>
      eventOf(upstream, { kind: 'text', word: said, isEscaped: false, isObfuscated: true }),
    );
    const begun = (opening[upstream] ?? []).map((data) => `data: ${data}\n\n`);
    const out = relay(exchange(direction, { stream: true }).stream(), [...begun, ...events].map(bytes));
    let at = -1;
    for (const said of words) {
      const next = out.indexOf(`"${said}"`, at + 1);
      expect(next).toBeGreaterThan(at);
      at = next;
    }
  });
});
