import type { BodyKind } from '../../server/wire/members.ts';

/** Requests of every kind, and ways to break each of their members. */

export type Step = string | number;

const pixel = 'iVBORw0KGgo=';
const schema = { type: 'object', properties: { city: { type: 'string' } } };

/** Requests that have every documented member between them, and that every upstream takes. */
export const samples: Record<BodyKind, Record<string, unknown>[]> = {
  messages: [
    {
      model: 'm',
      max_tokens: 2_000,
      stream: true,
      temperature: 1,
      top_p: 0.9,
      top_k: 4,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
      metadata: { user_id: 'u' },
      tools: [{ name: 'weather', description: 'Says the weather.', input_schema: schema, strict: true }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Well.', signature: 's' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Huế' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'text', text: 'Sunny' }],
              is_error: false,
            },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
            { type: 'image', source: { type: 'url', url: 'https://pictures.test/a.png' } },
          ],
        },
      ],
    },
    {
      model: 'm',
      max_tokens: 2_000,
      tools: [{ name: 'weather', type: 'custom', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'weather' },
      messages: [{ role: 'user', content: 'Hi' }],
    },
    {
      model: 'm',
      max_tokens: 2_000,
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
      messages: [{ role: 'user', content: 'Hi' }],
    },
    { model: 'm', max_tokens: 2_000, stop_sequences: ['END'], messages: [{ role: 'user', content: 'Hi' }] },
  ],
  'chat-completions': [
    {
      model: 'm',
      max_completion_tokens: 500,
      max_tokens: 500,
      stream: true,
      stream_options: { include_usage: true },
      n: 1,
      temperature: 1,
      top_p: 0.9,
      parallel_tool_calls: true,
      response_format: { type: 'json_schema', json_schema: { name: 'a', description: 'b', schema, strict: true } },
      reasoning_effort: 'low',
      user: 'u',
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: 'Says the weather.', parameters: schema, strict: true },
        },
      ],
      tool_choice: 'auto',
      messages: [
        { role: 'system', content: 'Be brief.', name: 's' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'Sunny' }] },
      ],
    },
    {
      model: 'm',
      tools: [{ type: 'function', function: { name: 'weather' } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{}' } },
        { role: 'function', name: 'weather', content: 'Sunny' },
      ],
    },
    { model: 'm', stop: ['END'], messages: [{ role: 'user', content: 'Hi' }] },
  ],
  responses: [
    {
      model: 'm',
      instructions: 'Be brief.',
      max_output_tokens: 500,
      stream: true,
      store: false,
      tools: [
        { type: 'function', name: 'weather', description: 'Says the weather.', parameters: schema, strict: true },
      ],
      tool_choice: { type: 'function', name: 'weather' },
      reasoning: { summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'a', schema } },
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Well.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: `data:image/png;base64,${pixel}`, detail: 'low' }],
        },
      ],
    },
    { model: 'm', input: 'Hi', tool_choice: 'none', reasoning: { effort: 'low' } },
  ],
  embeddings: [
    { model: 'm', input: ['a', 'b'], encoding_format: 'float', dimensions: 8, user: 'u' },
    { model: 'm', input: [[1, 2], [3]] },
  ],
  images: [
    {
      model: 'm',
      prompt: 'An owl.',
      n: 2,
      size: '1024x1024',
      quality: 'low',
      background: 'opaque',
      output_format: 'jpeg',
      output_compression: 80,
      stream: true,
      partial_images: 2,
      moderation: 'low',
      user: 'u',
    },
    {
      model: 'm',
      prompt: 'p',
      response_format: 'url',
      images: [{ image_url: 'data:image/png;base64,AAAA' }],
      mask: { image_url: 'https://x.test/m.png' },
    },
  ],
};

/** Every member and item below a value, by its path. */
export function pathsIn(value: unknown, path: readonly Step[] = []): (readonly Step[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const steps: Step[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const inner = steps.flatMap((step) => pathsIn((value as Record<Step, unknown>)[step], [...path, step]));
  return path.length === 0 ? inner : [path, ...inner];
}

export function valueAt(value: unknown, path: readonly Step[]): unknown {
  return path.reduce((found, step) => (found as Record<Step, unknown>)[step], value);
}

export function replaced(value: unknown, path: readonly Step[], by: unknown): unknown {
  const copy = structuredClone(value);
  const holder = valueAt(copy, path.slice(0, -1)) as Record<Step, unknown>;
  holder[path.at(-1) ?? ''] = by;
  return copy;
}

/** Of the wrong type, out of range, no word that is known. */
const wrong: readonly unknown[] = [
  -1,
  1.5,
  true,
  'no-such-word',
  {},
  [],
  ['no-such-word', {}],
  { type: 'no-such-word' },
];

const typeName = (value: unknown) => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);

/** Values of another type than the member's. */
export function wrongFor(value: unknown): unknown[] {
  return wrong.filter((other) => typeName(other) !== typeName(value));
}

/** A name that no longer fits another member is told by either of the two. */
const elsewhere: Record<string, string> = {
  'tool_choice.name': 'tool_choice',
  'tool_choice.function.name': 'tool_choice',
  'input[0]': 'input[1]',
};

export const isWithin = (inner: string, outer: string) => inner === outer || /^[.[]/.test(inner.slice(outer.length));
const isOnTheWay = (one: string, other: string) =>
  (one.startsWith(other) && isWithin(one, other)) || (other.startsWith(one) && isWithin(other, one));

/** Whether an error that names `param` tells a person who broke the member at `at` where to look. */
export function isTold(param: string, at: string): boolean {
  return isOnTheWay(param, at) || param === elsewhere[at];
}
