import type { Protocol } from '../../server/core/protocol.ts';

/**
 * Makes large requests out of a small one that has every list, map and nesting of its protocol once. A list grows by each of
 * its items, by each two neighbours in turn and by all of them; lists whose items name each other also grow together.
 */

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Path = readonly (string | number)[];

/** Stands in names and ids for the number of the copy: what names each other gets the same one. */
const MARK = '#';

const schema = {
  type: 'object',
  properties: {
    'a_property_named_#': { type: ['object', 'null'], anyOf: [{ type: 'string' }], properties: {}, required: [] },
  },
  $defs: { 'd#': { type: 'string', enum: ['e#'] } },
  required: ['a_property_named_#'],
  additionalProperties: false,
  description: 'words',
};

const png = 'data:image/png;base64,AAAA';
const pdf = 'data:application/pdf;base64,AAAA';

/** Requests that every upstream takes. Members that only some take stand in `additions`. */
const samples: Record<Protocol, { [name: string]: Json }> = {
  messages: {
    model: 'cat-1',
    max_tokens: 100,
    system: [{ type: 'text', text: 'words', cache_control: { type: 'ephemeral' } }],
    tools: [
      { name: 'a_tool_of_that_name_#', input_schema: {} },
      { name: 'other', description: 'words', input_schema: schema, allowed_callers: ['direct'] },
    ],
    metadata: { user_id: 'words' },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'words' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'image', source: { type: 'url', url: 'https://x.test/words' } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' }, title: 'words' },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'words' }] } },
          { type: 'search_result', title: 'words', source: 'words', content: [{ type: 'text', text: 'words' }] },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'words', signature: 'gw1.words' },
          { type: 'redacted_thinking', data: 'AAAA' },
          { type: 'text', text: 'words' },
          {
            type: 'tool_use',
            id: 'a_call_of_that_id_#',
            name: 'a_tool_of_that_name_#',
            input: { 'a_property_named_#': ['words'] },
          },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a_call_of_that_id_#',
            is_error: true,
            content: [{ type: 'text', text: 'words' }],
          },
          {
            type: 'tool_result',
            tool_use_id: 'a_call_of_that_id_#',
            content: [{ type: 'tool_reference', tool_name: 'a_tool_of_that_name_#' }],
          },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'words' }] },
      { role: 'user', content: 'words' },
    ],
  },
  'chat-completions': {
    model: 'cat-1',
    tools: [
      { type: 'function', function: { name: 'a_tool_of_that_name_#' } },
      { type: 'function', function: { name: 'other', description: 'words', parameters: schema } },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'a_tool_of_that_name_#' } }] },
    },
    metadata: { 'm#': 'words' },
    modalities: ['text'],
    user: 'words',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'words' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'words', prompt_cache_breakpoint: {} },
          { type: 'image_url', image_url: { url: png, detail: 'words' } },
          { type: 'file', file: { file_data: pdf, filename: 'words' } },
        ],
      },
      {
        role: 'assistant',
        reasoning_content: 'words',
        content: [
          { type: 'text', text: 'words' },
          { type: 'refusal', refusal: 'words' },
        ],
        tool_calls: [
          {
            id: 'a_call_of_that_id_#',
            type: 'function',
            function: { name: 'a_tool_of_that_name_#', arguments: '{"p":["words"]}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'a_call_of_that_id_#', content: [{ type: 'text', text: 'words' }] },
      { role: 'assistant', content: null, function_call: { name: 'a_tool_of_that_name_#', arguments: '{}' } },
      { role: 'function', name: 'a_tool_of_that_name_#', content: 'words' },
      { role: 'system', content: 'words' },
      { role: 'user', content: 'words' },
    ],
  },
  responses: {
    model: 'cat-1',
    instructions: 'words',
    include: ['reasoning.encrypted_content'],
    metadata: { 'm#': 'words' },
    client_metadata: { 'm#': 'words' },
    tools: [
      { type: 'function', name: 'a_tool_of_that_name_#' },
      { type: 'function', name: 'other', description: 'words', parameters: schema },
      {
        type: 'custom',
        name: 'a_free_text_tool_#',
        description: 'words',
        format: { type: 'grammar', syntax: 'lark', definition: 'words' },
      },
      { type: 'namespace', name: 'space#', tools: [{ type: 'function', name: 'an_inner_tool_#', parameters: schema }] },
    ],
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [
        { type: 'function', name: 'a_tool_of_that_name_#' },
        { type: 'custom', name: 'a_free_text_tool_#' },
      ],
    },
    input: [
      { role: 'developer', content: [{ type: 'input_text', text: 'words' }] },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'words' },
          { type: 'input_image', image_url: png, detail: 'words' },
          { type: 'input_file', file_data: pdf, filename: 'words' },
        ],
      },
      { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'words' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'words', annotations: [{}] }] },
      { type: 'web_search_call', id: 'ws', status: 'completed', action: { queries: ['words'] } },
      {
        type: 'function_call',
        call_id: 'a_call_of_that_id_#',
        name: 'a_tool_of_that_name_#',
        arguments: '{"p":["words"]}',
      },
      { type: 'custom_tool_call', call_id: 'a_free_text_tool_#', name: 'a_free_text_tool_#', input: 'words' },
      { type: 'function_call_output', call_id: 'a_call_of_that_id_#', output: [{ type: 'input_text', text: 'words' }] },
      { type: 'custom_tool_call_output', call_id: 'a_free_text_tool_#', output: 'words' },
      { role: 'system', content: [{ type: 'input_text', text: 'words' }] },
      { role: 'user', content: 'words' },
    ],
  },
};

/** Members with lists of their own that not every upstream takes, each added alone. */
const additions: Record<Protocol, { [name: string]: Json }> = {
  messages: {
    stop_sequences: ['s#'],
    output_config: { format: { type: 'json_schema', schema } },
    context_management: { edits: [{ type: 'clear_tool_uses_20250919', exclude_tools: ['a_tool_of_that_name_#'] }] },
    mcp_servers: [{ type: 'url', name: 'server#', url: 'https://x.test' }],
    fallbacks: [{ model: 'm#' }],
    'tools ': [{ type: 'web_search_20250305', name: 'a_tool_of_that_name_#', allowed_domains: ['d#.test'] }],
    unknown: [{ 'x#': ['words'] }],
  },
  'chat-completions': {
    stop: ['s#'],
    logit_bias: { '#': 1 },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    functions: [{ name: 'a_tool_of_that_name_#', parameters: schema }],
    models: ['m#'],
    plugins: [{ id: 'a_property_named_#' }],
    'modalities ': ['audio', 'm#'],
    unknown: [{ 'x#': ['words'] }],
  },
  responses: {
    text: { format: { type: 'json_schema', name: 'n', schema } },
    prompt: { id: 'p', variables: { 'v#': 'words' } },
    models: ['m#'],
    'tools ': [{ type: 'kind#' }],
    unknown: [{ 'x#': ['words'] }],
  },
};

/** What may stand in itself, around what stands innermost: as deep as is allowed. */
const nestings: Record<
  Protocol,
  { [name: string]: { around(inner: Json): Json; into(value: Json): { [name: string]: Json } } }
> = {
  messages: {
    'schemas in properties': {
      around: (inner) => ({ type: 'object', properties: { p: inner }, required: ['p'], additionalProperties: false }),
      into: (value) => ({ tools: [{ name: 'tool', input_schema: { anyOf: [value] } }] }),
    },
    'documents in documents': {
      around: (inner) => ({ type: 'document', source: { type: 'content', content: [inner] } }),
      into: (value) => ({ messages: [{ role: 'user', content: [value] }] }),
    },
    'lists in a call': {
      around: (inner) => [inner],
      into: (value) => ({
        messages: [
          { role: 'user', content: 'words' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'call', name: 'tool', input: { p: value } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call' }] },
        ],
      }),
    },
  },
  'chat-completions': {
    'schemas in properties': {
      around: (inner) => ({ type: 'object', properties: { p: inner }, required: ['p'], additionalProperties: false }),
      into: (value) => ({
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { anyOf: [value] } } },
      }),
    },
  },
  responses: {
    'tools in namespaces': {
      around: (inner) => ({ type: 'namespace', name: 'space', tools: [inner] }),
      into: (value) => ({ tools: [value] }),
    },
    'schemas in lists': {
      around: (inner) => ({ anyOf: [inner] }),
      into: (value) => ({ text: { format: { type: 'json_schema', name: 'n', schema: { anyOf: [value] } } } }),
    },
  },
};

/** A way to make a request large. */
export interface Growth {
  name: string;
  /** The request's JSON with some hundreds of values, times `scale`. */
  make(scale: number): string;
}

/** Values that a growth adds at scale one. */
const valuesAdded = 600;

interface Point {
  name: string;
  path: Path;
  /** Marked names within what is repeated. */
  marks: ReadonlySet<string>;
  /** Which items of the list at `path` are repeated; null where members of the object at `path` are. */
  repeated: readonly number[] | null;
  /** JSON values of one copy. */
  values: number;
  grow(container: Json, count: number): Json;
}

/** Ways to make a request of this protocol large: in one place, and in two places that name each other. */
export function growths(protocol: Protocol): Growth[] {
  const grown = pointsOf(protocol).flatMap(([body, points]) => {
    const marked = points.filter(
      ({ repeated, marks }) => marks.size > 0 && (repeated === null || repeated.length === 1),
    );
    const pairs = marked.flatMap((one, index) =>
      marked
        .slice(index + 1)
        .filter((other) => [...one.marks].some((name) => other.marks.has(name)) && areApart(one, other))
        .map((other) => growth(body, [one, other])),
    );
    return [...points.map((point) => growth(body, [point])), ...pairs];
  });
  const named = new Map([...grown, ...deep(protocol)].map((way) => [way.name, way]));
  return [...named.values()];
}

function deep(protocol: Protocol): Growth[] {
  const levels = 40;
  return Object.entries(nestings[protocol]).map(([name, { around, into }]) => ({
    name: `${name}, ${levels} deep`,
    make(scale) {
      const chain = (): Json => {
        let value: Json = { type: 'string' };
        for (let level = 0; level < levels; level += 1) value = around(value);
        return value;
      };
      const body: { [name: string]: Json } = { ...samples[protocol], tool_choice: 'auto', ...into(MARK) };
      if (protocol === 'messages') delete body['tool_choice'];
      const text = JSON.stringify(chain());
      const count = Math.ceil(valuesAdded / valuesOf(JSON.parse(text) as Json)) * scale;
      const chains = Array.from({ length: count }, () => text).join(',');
      return JSON.stringify(body).replace(JSON.stringify(MARK), chains);
    },
  }));
}

function growth(body: Json, points: readonly Point[]): Growth {
  return {
    name: points.map(({ name }) => name).join(' with '),
    make(scale) {
      const count = Math.ceil(valuesAdded / points.reduce((sum, point) => sum + point.values, 0)) * scale;
      // Inner places first: an outer list that grows moves nothing that stands before.
      const inOrder = [...points].sort((one, other) => other.path.length - one.path.length || later(one, other));
      const grown = inOrder.reduce((whole, { path, grow }) => replaced(whole, path, (at) => grow(at, count)), body);
      return JSON.stringify(numbered(grown, 0));
    },
  };
}

/** Of two places at one depth, the later one first. */
function later(one: Point, other: Point): number {
  const at = one.path.findIndex((step, index) => step !== other.path[index]);
  const [left, right] = [one.path[at], other.path[at]];
  return typeof left === 'number' && typeof right === 'number' ? right - left : 0;
}

/** Whether neither grows within what the other repeats, nor moves it. */
function areApart(one: Point, other: Point): boolean {
  const [outer, inner] = one.path.length <= other.path.length ? [one, other] : [other, one];
  if (!outer.path.every((step, index) => inner.path[index] === step)) return true;
  const step = inner.path[outer.path.length];
  if (outer.repeated === null) return typeof step === 'string' && !step.includes(MARK);
  return typeof step === 'number' && outer.repeated.every((item) => item > step);
}

function pointsOf(protocol: Protocol): [Json, Point[]][] {
  const sample = samples[protocol];
  const added = Object.entries(additions[protocol]).map(([name, value]): [Json, Point[]] => {
    const body = { ...sample, [name.trim()]: value };
    return [body, find(value, [name.trim()])];
  });
  return [[sample, find(sample, [])], ...added];
}

/** Every list and every object of a value. */
function find(value: Json, path: Path): Point[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => find(item, [...path, index]))
    : Object.entries(value).flatMap(([name, member]) => find(member, [...path, name]));
  return [...(Array.isArray(value) ? listPoints(value, path) : [memberPoint(value, path)]), ...inner];
}

function listPoints(list: readonly Json[], path: Path): Point[] {
  const runs = [
    ...list.map((_, index) => [index]),
    ...list.slice(1).map((_, index) => [index, index + 1]),
    ...(list.length > 2 ? [list.map((_, index) => index)] : []),
  ];
  return runs.map((repeated) => ({
    name: `${path.join('.')}[${repeated.length > 2 ? '*' : repeated.join(',')}]`,
    path,
    repeated,
    marks: new Set(repeated.flatMap((index) => marksOf(list[index] ?? null))),
    values: repeated.reduce((sum, index) => sum + valuesOf(list[index] ?? null), 0) / repeated.length,
    grow(container, count) {
      const items = container as Json[];
      const [first = 0, last = first] = [repeated[0], repeated.at(-1)];
      const unit = items.slice(first, last + 1);
      const copies = Array.from(
        { length: Math.ceil(count / unit.length) },
        (_, number) => numbered(unit, number) as Json[],
      );
      return [...items.slice(0, first), ...copies.flat(), ...items.slice(last + 1)];
    },
  }));
}

function memberPoint(object: { [name: string]: Json }, path: Path): Point {
  const marked = Object.keys(object).filter((name) => name.includes(MARK));
  return {
    name: `${path.join('.') || 'body'}{}`,
    path,
    repeated: null,
    marks: new Set(marked),
    values: valuesOf(object[marked[0] ?? ''] ?? 1),
    grow(container, count) {
      const own = container as { [name: string]: Json };
      const [name = 'x#'] = marked;
      const copies = Array.from({ length: count }, (_, number) => [
        mark(name, number),
        numbered(own[name] ?? 1, number),
      ]);
      return { ...Object.fromEntries(copies), ...own };
    },
  };
}

function valuesOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesOf(member), 1);
}

function marksOf(value: Json): string[] {
  if (typeof value === 'string') return value.includes(MARK) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(marksOf);
}

function mark(text: string, number: number): string {
  // As long for every number, so that nothing grows but the count.
  return text.replace(MARK, String(number).padStart(6, '0'));
}

/** The value with its marks replaced; what has been numbered already keeps its number. */
function numbered(value: Json, number: number): Json {
  if (typeof value === 'string') return mark(value, number);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => numbered(item, number));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [mark(name, number), numbered(member, number)]),
  );
}

function replaced(whole: Json, path: Path, make: (at: Json) => Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return make(whole);
  if (Array.isArray(whole)) return whole.map((item, index) => (index === step ? replaced(item, rest, make) : item));
  const object = whole as { [name: string]: Json };
  return { ...object, [step]: replaced(object[step] ?? null, rest, make) };
}
