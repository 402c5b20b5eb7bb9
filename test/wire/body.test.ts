import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { modelEdits, scanBody, splice } from '../../server/wire/body.ts';
import type { RequestFacts, WireProblem } from '../../server/wire/protocol.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { contextWith } from './fixtures.ts';

/** The scan of a request’s body finds what decides about it, and refuses what no protocol allows. */

const user = [{ role: 'user', content: 'hi' }];
const minimal: Record<Protocol, Record<string, unknown>> = {
  messages: { model: 'm', max_tokens: 16, messages: user },
  'chat-completions': { model: 'm', messages: user },
  responses: { model: 'm', input: 'hi' },
};

function bytes(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function factsOf(protocol: Protocol, body: unknown): RequestFacts {
  const scan = scanBody(bytes(body), protocol);
  if (!scan.ok) throw new Error(scan.problem.message);
  return scan.facts;
}

function problemOf(protocol: Protocol, body: unknown): WireProblem {
  const scan = scanBody(bytes(body), protocol);
  if (scan.ok) throw new Error('the body was accepted');
  return scan.problem;
}

const withMembers = (protocol: Protocol, members: Record<string, unknown>) =>
  factsOf(protocol, { ...minimal[protocol], ...members });

const inContent = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
const marker = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) } });

describe('a minimal body of each protocol', () => {
  test.each(Object.keys(minimal) as Protocol[])('%s', (protocol) => {
    const raw = bytes(minimal[protocol]);
    expect(factsOf(protocol, raw)).toMatchObject({
      protocol,
      model: 'm',
      modelSpan: { start: 9, end: 12 },
      stream: false,
      maxTokens: protocol === 'messages' ? 16 : null,
      answers: 1,
      includeUsage: false,
      textBytes: raw.length,
      images: 0,
      documents: 0,
      documentBytes: 0,
      gates: [],
      cacheWrite: 'none',
    });
  });
});

describe('what is no request at all', () => {
  test.each([
    ['nothing', '', 'empty'],
    ['broken JSON', '{"model":"m",', 'JSON'],
    ['an array', '[]', 'must be a JSON object'],
    ['null', 'null', 'must be a JSON object'],
    ['a string', '"model"', 'must be a JSON object'],
    ['a byte order mark', '\ufeff{"model":"m"}', 'byte order mark'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'UTF-8'],
    ['UTF-16', Buffer.from('{"model":"m"}', 'utf16le'), 'JSON'],
    ['a million brackets', Buffer.alloc(1_000_000, '['), 'nested deeper'],
    ['a million members', `{"model":"m","x":[${'{},'.repeat(1_000_000)}1]}`, 'values'],
  ])('%s', (_what, body, sentence) => {
    const problem = problemOf('messages', body);
    expect(problem.message).toContain(sentence);
    expect(problem.param).toBeNull();
  });

  test('a refusal has no text of the body', () => {
    expect(JSON.stringify(problemOf('messages', '{"canary": canary}'))).not.toContain('canary');
  });
});

describe('model', () => {
  test.each([
    ['missing', {}],
    ['null', { model: null }],
    ['a number', { model: 5 }],
    ['an object', { model: { id: 'm' } }],
    ['empty', { model: '' }],
    ['too long', { model: 'x'.repeat(257) }],
    ['with NUL', { model: 'a\u0000b' }],
  ])('%s is refused by name', (_what, members) => {
    for (const protocol of Object.keys(minimal) as Protocol[]) {
      const { model: _model, ...rest } = minimal[protocol];
      expect(problemOf(protocol, { ...rest, ...members })).toMatchObject({ param: 'model' });
    }
  });

  test.each(['__proto__', 'constructor', 'toString', 'steyg/big-1', 'BIG', 'x'.repeat(256), 'é\ud800'])(
    '%j is taken as it was sent',
    (model) => {
      expect(withMembers('messages', { model }).model).toBe(model);
    },
  );

  test('escapes in it are read, and the span covers them', () => {
    const raw = '{ "model" : "b\\u0069g\\/1" , "messages":[{"role":"user"}]}';
    const facts = factsOf('chat-completions', raw);
    expect(facts.model).toBe('big/1');
    expect(raw.slice(facts.modelSpan.start, facts.modelSpan.end)).toBe('"b\\u0069g\\/1"');
  });
});

describe('members that stand there twice', () => {
  test.each([
    ['model', '{"model":"m","max_tokens":1,"messages":[{"role":"user"}],"model":"n"}'],
    ['model', '{"model":"m","max_tokens":1,"messages":[{"role":"user"}],"mod\\u0065l":"n"}'],
    ['max_tokens', '{"model":"m","max_tokens":1,"messages":[{"role":"user"}],"max_tokens":9}'],
    ['stream', '{"model":"m","max_tokens":1,"messages":[{"role":"user"}],"stream":true,"stream":false}'],
    ['thread', '{"model":"m","max_tokens":1,"messages":[{"role":"user"}],"thread":null,"thread":{}}'],
    [
      'tools.0.type',
      '{"model":"m","max_tokens":1,"messages":[{"role":"user"}],"tools":[{"type":"web_search_1","type":"custom"}]}',
    ],
  ])('%s is refused', (name, raw) => {
    expect(problemOf('messages', raw)).toMatchObject({ param: name });
  });

  test('what decides nothing may', () => {
    expect(factsOf('messages', '{"model":"m","x":1,"x":2,"max_tokens":1,"messages":[{"role":"user"}]}').model).toBe(
      'm',
    );
  });
});

describe('output caps', () => {
  const caps: [Protocol, string, number][] = [
    ['messages', 'max_tokens', 0],
    ['chat-completions', 'max_tokens', 1],
    ['chat-completions', 'max_completion_tokens', 1],
    ['responses', 'max_output_tokens', 1],
  ];

  test.each(caps)('%s %s', (protocol, name, least) => {
    for (const bad of ['-1', '1.5', '"16"', 'true', '[]', '{}', '1e400', '1e-1']) {
      const raw = JSON.stringify({ ...minimal[protocol], [name]: 777 }).replace('777', bad);
      expect([bad, problemOf(protocol, raw).param]).toEqual([bad, name]);
    }
    for (const [good, value] of [
      ['1', 1],
      ['1e2', 100],
      ['16.0', 16],
      ['1000000000000', 1e12],
    ] as const) {
      const raw = JSON.stringify({ ...minimal[protocol], [name]: 777 }).replace('777', good);
      expect(factsOf(protocol, raw).maxTokens).toBe(value);
    }
    expect(
      factsOf(protocol, JSON.stringify({ ...minimal[protocol], [name]: 777 }).replace('777', '1e300')).maxTokens,
    ).toBe(Number.MAX_SAFE_INTEGER);
    const zero = scanBody(bytes({ ...minimal[protocol], [name]: 0 }), protocol);
    expect(zero).toMatchObject(
      least === 0 ? { ok: true, facts: { maxTokens: 0 } } : { ok: false, problem: { param: name } },
    );
  });

  test('minus zero is zero', () => {
    const raw = JSON.stringify(minimal.messages).replace('16', '-0');
    expect(Object.is(factsOf('messages', raw).maxTokens, 0)).toBe(true);
  });

  test('messages needs one, unless tokens are only counted', () => {
    const body = { model: 'm', messages: user };
    expect(problemOf('messages', body)).toMatchObject({ param: 'max_tokens', message: 'max_tokens: Field required' });
    expect(problemOf('messages', { ...body, max_tokens: null })).toMatchObject({ param: 'max_tokens' });
    expect(scanBody(bytes(body), 'messages', 'count')).toMatchObject({ ok: true, facts: { maxTokens: null } });
  });

  test('on chat completions the newer name wins, and both are checked', () => {
    expect(withMembers('chat-completions', { max_tokens: 9, max_completion_tokens: 3 }).maxTokens).toBe(3);
    expect(withMembers('chat-completions', { max_tokens: 9, max_completion_tokens: null }).maxTokens).toBe(9);
    expect(
      problemOf('chat-completions', { ...minimal['chat-completions'], max_tokens: -1, max_completion_tokens: 3 }).param,
    ).toBe('max_tokens');
  });
});

describe('other parameters', () => {
  test('stream is a boolean or absent', () => {
    expect(withMembers('messages', { stream: true }).stream).toBe(true);
    expect(withMembers('messages', { stream: null }).stream).toBe(false);
    for (const stream of ['true', 1, [], {}]) {
      expect(problemOf('messages', { ...minimal.messages, stream }).param).toBe('stream');
    }
  });

  test("n multiplies the answers, up to the vendor's bound", () => {
    expect(withMembers('chat-completions', { n: 128 }).answers).toBe(128);
    expect(withMembers('chat-completions', { n: null }).answers).toBe(1);
    for (const n of [129, 0, -1, 1.5, '2']) {
      expect(problemOf('chat-completions', { ...minimal['chat-completions'], n }).param).toBe('n');
    }
    expect(withMembers('messages', { n: 'whatever' }).answers).toBe(1);
  });

  test('include_usage', () => {
    expect(withMembers('chat-completions', { stream_options: { include_usage: true } }).includeUsage).toBe(true);
    for (const stream_options of [undefined, null, {}, { include_usage: false }, { include_usage: null }]) {
      expect(withMembers('chat-completions', { stream_options }).includeUsage).toBe(false);
    }
    expect(problemOf('chat-completions', { ...minimal['chat-completions'], stream_options: [] }).param).toBe(
      'stream_options',
    );
    expect(
      problemOf('chat-completions', { ...minimal['chat-completions'], stream_options: { include_usage: 'yes' } }).param,
    ).toBe('stream_options.include_usage');
  });

  test.each(['messages', 'chat-completions'] as const)('%s: messages is a list of objects with a role', (protocol) => {
    const { messages: _messages, ...rest } = minimal[protocol];
    expect(problemOf(protocol, rest).param).toBe('messages');
    for (const bad of [null, 'hi', {}, [], 5])
      expect(problemOf(protocol, { ...rest, messages: bad }).param).toBe('messages');
    const [first, second] = protocol === 'messages' ? ['messages.0', 'messages.1'] : ['messages[0]', 'messages[1]'];
    expect(problemOf(protocol, { ...rest, messages: [user[0], 'hi'] }).param).toBe(second);
    expect(problemOf(protocol, { ...rest, messages: [{ content: 'hi' }] }).param).toBe(`${first}.role`);
    expect(problemOf(protocol, { ...rest, messages: [{ role: 5 }] }).param).toBe(`${first}.role`);
  });

  test('responses needs an input', () => {
    expect(problemOf('responses', { model: 'm' }).param).toBe('input');
    expect(problemOf('responses', { model: 'm', input: 5 }).param).toBe('input');
    expect(problemOf('responses', { model: 'm', input: ['x'] }).param).toBe('input[0]');
    expect(factsOf('responses', { model: 'm', prompt: { id: 'p' } }).gates[0]?.name).toBe('prompt');
  });

  test('a body of the other OpenAI protocol is told where it belongs', () => {
    expect(problemOf('chat-completions', minimal.responses).message).toContain('/v1/responses');
    expect(problemOf('responses', minimal['chat-completions']).message).toContain('/v1/chat/completions');
  });

  test('a response in the background is refused', () => {
    expect(problemOf('responses', { ...minimal.responses, background: true })).toMatchObject({ param: 'background' });
    expect(withMembers('responses', { background: false }).gates).toEqual([]);
  });

  test('members gives the span of everything at the top', () => {
    const raw = '{"model":"m","max_tokens":1,"messages":[{"role":"user"}],"x y":{"z":[1, 2]}}';
    const span = factsOf('messages', raw).members.get('x y');
    expect(raw.slice(span?.start, span?.end)).toBe('{"z":[1, 2]}');
  });
});

describe('media is not text', () => {
  const base64 = 'QUJD'.repeat(1000);
  const cases: [string, Protocol, Record<string, unknown>, Partial<RequestFacts> & { inline: number }][] = [
    [
      'images and a PDF of messages, nested ones too',
      'messages',
      inContent(
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
        { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 } },
        {
          type: 'tool_result',
          content: [{ type: 'image', source: { type: 'base64', data: base64, media_type: 'image/png' } }],
        },
        {
          type: 'document',
          source: { type: 'content', content: [{ type: 'image', source: { data: base64, type: 'base64' } }] },
        },
      ),
      { images: 4, documents: 2, documentBytes: 4000, inline: 16_000 },
    ],
    [
      'a plain text document is text',
      'messages',
      inContent({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: base64 } }),
      { images: 0, documents: 1, documentBytes: 0, inline: 0 },
    ],
    [
      'base64 in a tool call is text',
      'messages',
      inContent({ type: 'tool_use', input: { type: 'image', source: { type: 'base64', data: base64 } } }),
      { images: 0, documents: 0, inline: 0 },
    ],
    [
      'data URLs of chat completions',
      'chat-completions',
      inContent(
        { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
        { type: 'image_url', image_url: `data:image/jpeg;charset=x;base64,${base64}` },
        { type: 'image_url', image_url: { url: 'https://x/y.png' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${base64}` } },
        { type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${base64}` } },
      ),
      { images: 3, documents: 2, documentBytes: 4028, inline: 4022 + 4033 + 4028 },
    ],
    [
      'parts and generated images of responses',
      'responses',
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_image', image_url: `data:image/png;base64,${base64}` },
              { type: 'input_file', file_data: `data:application/pdf;base64,${base64}` },
            ],
          },
          { type: 'function_call_output', output: [{ type: 'input_image', image_url: 'https://x/y.png' }] },
          {
            type: 'computer_call_output',
            output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${base64}` },
          },
          { type: 'image_generation_call', id: 'x', result: base64 },
        ],
      },
      { images: 4, documents: 1, documentBytes: 4028, inline: 4022 + 4028 + 4022 + 4000 },
    ],
  ];

  test.each(cases)('%s', (_what, protocol, members, { inline, ...expected }) => {
    const raw = bytes({ ...minimal[protocol], ...members });
    expect(factsOf(protocol, raw)).toMatchObject({ ...expected, textBytes: raw.length - inline });
  });

  test('slashes may be escaped in a data URL', () => {
    const raw = JSON.stringify({
      ...minimal['chat-completions'],
      ...inContent({ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }),
    }).replaceAll('/', '\\/');
    expect(factsOf('chat-completions', raw).textBytes).toBeLessThan(1000);
  });
});

describe('cache markers', () => {
  test.each([
    ['none', 'messages', {}],
    ['5m', 'messages', marker()],
    ['5m', 'messages', { system: [{ type: 'text', text: 'x', ...marker('5m') }] }],
    ['5m', 'messages', { tools: [{ name: 't', ...marker() }] }],
    [
      '1h',
      'messages',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', ...marker() },
              { type: 'text', ...marker('1h') },
            ],
          },
        ],
      },
    ],
    [
      '1h',
      'messages',
      {
        messages: [{ role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', ...marker('1h') }] }] }],
        ...marker('5m'),
      },
    ],
    ['none', 'messages', { cache_control: null }],
    ['none', 'messages', { tools: [{ name: 't', input_schema: { properties: marker('1h') } }] }],
    ['5m', 'chat-completions', { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', ...marker() }] }] }],
    ['1h', 'chat-completions', { prompt_cache_options: { mode: 'explicit', ttl: '12h' } }],
    [
      '5m',
      'responses',
      { input: [{ role: 'user', content: [{ type: 'input_text', prompt_cache_breakpoint: { ttl: '30m' } }] }] },
    ],
  ] as [string, Protocol, Record<string, unknown>][])('%s: %s %j', (expected, protocol, members) => {
    expect(withMembers(protocol, members).cacheWrite).toBe(expected);
  });
});

describe('gates', () => {
  const cases: [Protocol, Record<string, unknown>, string | null][] = [
    // [protocol, members, "kind name param" of the gate or null]
    ['messages', { thread: { type: 'continue', previous_message_id: 'x' } }, 'tenant thread thread'],
    ['messages', { thread: null }, null],
    ['messages', { container: 'c_1' }, 'tenant container container'],
    ['messages', { container: { skills: [] } }, 'tenant container container'],
    ['messages', { container: null }, null],
    ['messages', { fallback_credit_token: 'x' }, 'tenant fallback_credit_token fallback_credit_token'],
    ['messages', { fallbacks: [{ model: 'other' }] }, 'price fallbacks fallbacks'],
    ['messages', { fallbacks: [] }, null],
    ['messages', { billing_policy: { type: 'billing_policy' } }, 'price billing_policy billing_policy'],
    ['messages', { speed: 'fast' }, 'price speed speed'],
    ['messages', { speed: 'standard' }, null],
    ['messages', { inference_geo: 'us' }, 'price inference_geo inference_geo'],
    ['messages', { service_tier: 'priority' }, 'price service_tier service_tier'],
    ['messages', { service_tier: 'auto' }, null],
    ['messages', { service_tier: 'standard_only' }, null],
    ['messages', { mcp_servers: [{ url: 'https://x' }] }, 'price mcp_servers mcp_servers'],
    ['messages', { mcp_servers: [] }, null],
    [
      'messages',
      { tools: [{ name: 'a' }, { type: 'web_search_20250305', name: 'w' }] },
      'price web_search tools.1.type dropped',
    ],
    ['messages', { tools: [{ type: 'web_fetch_20250910' }] }, 'price web_fetch tools.0.type dropped'],
    ['messages', { tools: [{ type: 'code_execution_20260521' }] }, 'price code_execution tools.0.type dropped'],
    ['messages', { tools: [{ type: 'advisor_20260301' }] }, 'price advisor tools.0.type'],
    ['messages', { tools: [{ type: 'mcp_toolset' }] }, 'price mcp_servers tools.0.type'],
    ['messages', { tools: [{ type: 'brand_new_20990101' }] }, 'price brand_new tools.0.type'],
    ['messages', { tools: [{ type: 'customs' }] }, 'price customs tools.0.type'],
    [
      'messages',
      {
        tools: [
          'custom',
          'bash_20250124',
          'text_editor_20250728',
          'computer_20250124',
          'memory_20250818',
          'tool_search_tool_regex_20251119',
        ].map((type) => ({ type })),
      },
      null,
    ],
    [
      'messages',
      inContent({ type: 'document', source: { type: 'file', file_id: 'f' } }),
      'tenant file_id messages.0.content.0.source.file_id',
    ],
    ['messages', inContent({ type: 'container_upload', file_id: 'f' }), 'tenant file_id messages.0.content.0.file_id'],
    [
      'messages',
      inContent({ type: 'code_execution_tool_result', content: { content: [{ file_id: 'f' }] } }),
      'tenant file_id messages.0.content.0.content.content.0.file_id',
    ],
    [
      'messages',
      inContent({
        type: 'tool_addition',
        tool: { type: 'tool_definition', definition: { type: 'web_search_20260318' } },
      }),
      'price web_search messages.0.content.0.tool.definition.type dropped',
    ],
    ['messages', inContent({ type: 'tool_use', input: { file_id: 'f', type: 'web_search_20250305' } }), null],
    [
      'messages',
      {
        tools: [
          { name: 't', input_schema: { properties: { file_id: {}, container: {}, type: { type: 'web_search' } } } },
        ],
      },
      null,
    ],
    ['messages', { metadata: { user_id: 'u', thread: {}, container: 'x' } }, null],
    ['messages', { context_management: { edits: [] }, output_config: { effort: 'high' }, safeguards: {} }, null],
    ['chat-completions', { previous_response_id: 'r' }, 'tenant previous_response_id previous_response_id'],
    ['chat-completions', { store: true }, 'tenant store store'],
    ['chat-completions', { store: false }, null],
    ['chat-completions', { store: null, service_tier: null }, null],
    ['chat-completions', { service_tier: 'flex' }, 'price service_tier service_tier'],
    ['chat-completions', { service_tier: 'default' }, null],
    ['chat-completions', { web_search_options: {} }, 'price web_search web_search_options'],
    ['chat-completions', { modalities: ['text', 'audio'] }, 'price audio modalities[1]'],
    ['chat-completions', { modalities: ['text'] }, null],
    ['chat-completions', { search_parameters: { mode: 'on' } }, 'price web_search search_parameters'],
    ['chat-completions', { enable_search: true }, 'price web_search enable_search'],
    ['chat-completions', { enable_search: false }, null],
    ['chat-completions', { models: ['a', 'b'] }, 'price models models'],
    ...(['messages', 'responses'] as const).flatMap((protocol): typeof cases => [
      [protocol, { models: ['a', 'b'] }, 'price models models'],
      [protocol, { provider: { order: ['a'] } }, 'price provider provider'],
      [protocol, { plugins: [{ id: 'web' }] }, 'price plugins plugins'],
      [protocol, { preset: 'p' }, 'tenant preset preset'],
    ]),
    ['responses', { fallbacks: ['a'] }, 'price fallbacks fallbacks'],
    ['chat-completions', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 'tenant audio messages[0].audio'],
    [
      'chat-completions',
      inContent({ type: 'file', file: { file_id: 'f' } }),
      'tenant file_id messages[0].content[0].file.file_id',
    ],
    [
      'chat-completions',
      {
        tools: [
          { type: 'function', function: { name: 'x', parameters: { properties: { file_id: {} } } } },
          { type: 'custom' },
        ],
      },
      null,
    ],
    ['chat-completions', { tools: [{ type: 'web_search' }] }, 'price web_search tools[0].type dropped'],
    ['responses', { previous_response_id: 'r' }, 'tenant previous_response_id previous_response_id'],
    ['responses', { conversation: { id: 'c' } }, 'tenant conversation conversation'],
    ['responses', { prompt: { id: 'p' } }, 'tenant prompt prompt'],
    ['responses', { store: false, include: ['reasoning.encrypted_content'] }, null],
    ['responses', { store: true }, 'tenant store store dropped'],
    ['responses', { tools: [{ type: 'web_search_preview_2025_03_11' }] }, 'price web_search tools[0].type dropped'],
    ['responses', { tools: [{ type: 'code_interpreter' }] }, 'price code_interpreter tools[0].type dropped'],
    ['responses', { tools: [{ type: 'file_search', vector_store_ids: ['v'] }] }, 'price file_search tools[0].type'],
    ['responses', { tools: [{ type: 'image_generation' }] }, 'price image_generation tools[0].type dropped'],
    ['responses', { tools: [{ type: 'mcp' }] }, 'price mcp tools[0].type'],
    ['responses', { tools: [{ type: 'shell' }] }, 'price shell tools[0].type'],
    ['responses', { tools: [{ type: 'shell', environment: { type: 'local' } }] }, null],
    [
      'responses',
      {
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom' },
          { type: 'local_shell' },
          { type: 'namespace', tools: [{ type: 'function' }] },
        ],
      },
      null,
    ],
    ['responses', { tools: [{ type: 'namespace', tools: [{ type: 'mcp' }] }] }, 'price mcp tools[0].tools[0].type'],
    [
      'responses',
      { input: [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }] },
      'price mcp input[0].tools[0].type',
    ],
    ['responses', { input: [{ type: 'item_reference', id: 'i' }] }, 'tenant item_reference input[0].id'],
    ['responses', { input: [{ id: 'i' }] }, 'tenant item_reference input[0].id'],
    [
      'responses',
      {
        input: [
          { type: 'reasoning', id: 'i', encrypted_content: 'x' },
          { role: 'user', content: 'x' },
        ],
      },
      null,
    ],
    [
      'responses',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'tenant file_id input[0].content[0].file_id',
    ],
    [
      'responses',
      { input: [{ type: 'computer_call_output', output: { type: 'computer_screenshot', file_id: 'f' } }] },
      'tenant file_id input[0].output.file_id',
    ],
  ];

  test.each(cases)('%s %j', (protocol, members, expected) => {
    const gates = withMembers(protocol, members).gates.map(({ kind, name, problem, translationDrops }) =>
      [kind, name, problem.param, ...(translationDrops === true ? ['dropped'] : [])].join(' '),
    );
    expect(gates).toEqual(expected === null ? [] : [expected]);
  });

  test('the message names the field', () => {
    for (const { problem } of withMembers('messages', { container: 'x', speed: 'fast' }).gates) {
      expect(problem.message).toContain(problem.param ?? 'nothing');
    }
  });

  test('a thread gets exactly the details that make its client resend the history', () => {
    expect(withMembers('messages', { thread: { type: 'create' } }).gates[0]?.problem.details).toEqual({
      error_code: 'thread_unsupported_request',
      unsupported: ['thread'],
    });
  });

  test('a body that asks for more kinds of tools than anyone could allow is refused', () => {
    const tools = Array.from({ length: 40_000 }, (_, index) => ({ type: `tool${index}` }));
    expect(problemOf('messages', { ...minimal.messages, tools })).toMatchObject({ param: 'tools.64.type' });
    expect(withMembers('messages', { tools: tools.slice(0, 64) }).gates).toHaveLength(64);
  });

  test('the sentence names a tool, unless that is no plain name', () => {
    const sentenceOf = (type: string) => withMembers('responses', { tools: [{ type }] }).gates[0]?.problem.message;
    expect(sentenceOf('web_search')).toMatch(/^tools\[0\]\.type: "web_search" is not available for this model here, /);
    expect(sentenceOf('<a long story>')).toMatch(/^tools\[0\]\.type: not available for this model here, /);
    expect(sentenceOf('x'.repeat(65))).toMatch(/^tools\[0\]\.type: not available for this model here, /);
  });

  test('one gate each, at the first place', () => {
    const tools = [{ type: 'web_search_20250305' }, { type: 'web_search_20260318' }, { type: 'mcp_toolset' }];
    expect(withMembers('messages', { tools, mcp_servers: [{}] }).gates.map(({ name }) => name)).toEqual([
      'mcp_servers',
      'web_search',
    ]);
  });
});

describe('what is forwarded', () => {
  test('only the value of model changes, whatever else the body holds', () => {
    const odd =
      '{"max_tokens":12345678901234567890, "x":[1.0,1e2,-0,"\\ud800",{"__proto__":{"a":1}}],\r\n\t"messages":[{"role":"user","content":"é"}] , "model" :\t"a\\u0062" }';
    const facts = factsOf('messages', odd);
    expect(Buffer.from(splice(Buffer.from(odd), modelEdits(facts, 'up/"1"'))).toString()).toBe(
      odd.replace('"a\\u0062"', '"up/\\"1\\""'),
    );
    expect(facts.model).toBe('ab');
  });

  test('nothing changes where the upstream knows the model by the very same id', () => {
    const raw = bytes(minimal.messages);
    expect(splice(raw, modelEdits(factsOf('messages', raw), 'm'))).toBe(raw);
  });

  test('edits replace what they name, in any order', () => {
    const edits = [
      { start: 4, end: 5, text: 'E' },
      { start: 0, end: 0, text: '>' },
      { start: 1, end: 3, text: '' },
    ];
    expect(Buffer.from(splice(Buffer.from('abcdef'), edits)).toString()).toBe('>adEf');
  });

  test.each([
    [
      '{"model":"m","messages":[{"role":"user"}],"stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","messages":[{"role":"user"}],"stream":true}',
    ],
    [
      '{"stream_options":{},"model":"m","messages":[{"role":"user"}],"stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","messages":[{"role":"user"}],"stream":true}',
    ],
    [
      '{"stream_options":{ "x" : 1 },"model":"m","messages":[{"role":"user"}],"stream":true}',
      '{"stream_options":{"include_usage":true, "x" : 1 },"model":"m","messages":[{"role":"user"}],"stream":true}',
    ],
    [
      '{"stream_options":{"include_usage":false},"model":"m","messages":[{"role":"user"}],"stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","messages":[{"role":"user"}],"stream":true}',
    ],
    [
      '{"stream_options":null,"model":"m","messages":[{"role":"user"}],"stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","messages":[{"role":"user"}],"stream":true}',
    ],
    ['{"stream_options":{"include_usage":true},"model":"m","messages":[{"role":"user"}],"stream":true}', null],
    ['{"model":"m","messages":[{"role":"user"}]}', null],
    ['{"model":"m","messages":[{"role":"user"}],"stream_options":{"include_usage":false}}', null],
  ])('a chat stream is asked for its usage: %s', (raw, expected) => {
    const request = wireFor('chat-completions', 'chat-completions').request(
      Buffer.from(raw),
      factsOf('chat-completions', raw),
      contextWith({ upstreamModel: 'm' }),
    );
    expect(request.ok && Buffer.from(request.exchange.body).toString()).toBe(expected ?? raw);
  });

  test('other protocols are asked for nothing', () => {
    for (const protocol of ['messages', 'responses'] as const) {
      const store = protocol === 'responses' ? { store: false } : {};
      const raw = bytes({ ...minimal[protocol], stream: true, ...store });
      const request = wireFor(protocol, protocol).request(
        raw,
        factsOf(protocol, raw),
        contextWith({ upstreamModel: 'm' }),
      );
      expect(request.ok && request.exchange.body).toBe(raw);
    }
  });

  test('who may have things stored keeps what refers to them; nobody else does', () => {
    const input = [
      { type: 'reasoning', id: 'rs', summary: [] },
      { role: 'user', content: 'hi' },
    ];
    const sent = (store: unknown): unknown => {
      const raw = bytes({ model: 'm', input, store });
      const facts = factsOf('responses', raw);
      const request = wireFor('responses', 'responses').request(raw, facts, contextWith({ upstreamModel: 'm' }));
      return request.ok && JSON.parse(Buffer.from(request.exchange.body).toString());
    };
    expect(sent(true)).toEqual({ model: 'm', input, store: true });
    for (const store of [undefined, null, false]) {
      expect(sent(store)).toEqual({ model: 'm', input: input.slice(1), store: false });
    }
  });

  test('any body keeps its meaning but for the model, and for the usage a stream is asked for', () => {
    const rest = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
    const options = fc.option(fc.dictionary(fc.constantFrom('include_usage', 'x', 'y'), fc.boolean()), {
      nil: undefined,
    });
    fc.assert(
      fc.property(
        rest,
        options,
        fc.string({ minLength: 1 }),
        fc.constantFrom(0, 1, 2),
        (extra, stream_options, upstreamModel, indent) => {
          const body = {
            ...extra,
            model: 'm',
            messages: user,
            stream: true,
            ...(stream_options === undefined ? {} : { stream_options }),
          };
          const raw = Buffer.from(JSON.stringify(body, null, indent));
          const scan = scanBody(raw, 'chat-completions');
          // A random member may be one that is checked; what is refused is not forwarded.
          if (!scan.ok) return;
          const request = wireFor('chat-completions', 'chat-completions').request(
            raw,
            scan.facts,
            contextWith({ upstreamModel }),
          );
          const sent: unknown = request.ok && JSON.parse(Buffer.from(request.exchange.body).toString());
          // What the bytes say, not what they were made from: JSON has already lost the sign of a zero there.
          expect(sent).toEqual({
            ...(JSON.parse(raw.toString()) as object),
            model: upstreamModel,
            stream_options: { ...stream_options, include_usage: true },
          });
        },
      ),
    );
  });
});

test('what normalising may add to the text is counted, however it is written', () => {
  const added = (text: string) => {
    const raw = JSON.stringify({ ...minimal.messages, system: 'PLACE' }).replace('PLACE', text);
    return factsOf('messages', raw).expandedBytes ?? 0;
  };
  const long = 'words '.repeat(200);
  // 33 bytes for the three of the character, or the six of its escape.
  for (const before of ['', 'words', long, `${long}\\n\\"`]) {
    expect(added(`${before}\u{FDFA}`)).toBe(30);
    expect(added(`${before}\\ufdfa${before}`)).toBe(27);
    expect(added(`${before}\\\\ufdfa`)).toBe(0);
  }
});
