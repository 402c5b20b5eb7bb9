/** Probes: how answers are judged, and the command. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runProbeCommand } from '../../server/uptime/probes/command.ts';
import { type ProbeProtocol, type ProbeTarget, probe } from '../../server/uptime/probes/probe.ts';
import { probeAll } from '../../server/uptime/probes/prober.ts';

type Seen = { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> };
let server: Server;
let baseUrl: string;
let answer: (response: ServerResponse, seen: Seen) => void;
let seen: Seen[];

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
      seen.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen = [];
});

const reply = (status: number, body: string, type = 'application/json') => {
  answer = (response) => response.writeHead(status, { 'content-type': type }).end(body);
};
const target = (protocol: ProbeProtocol, mode: 'plain' | 'stream' = 'plain'): ProbeTarget => ({
  model: 'm',
  protocol,
  mode,
});
const run = (to: ProbeTarget, timeoutMs = 5_000) => probe({ baseUrl, apiKey: 'sk-test', target: to, timeoutMs });
const sse = (...data: string[]) => data.map((line) => `data: ${line}\n\n`).join('');

describe('a probe', () => {
  it.each<[ProbeProtocol, string]>([
    ['messages', '/api/v1/messages'],
    ['chat-completions', '/api/v1/chat/completions'],
    ['responses', '/api/v1/responses'],
  ])('asks for next to nothing over %s', async (protocol, path) => {
    reply(200, '{}');
    await run(target(protocol));
    expect(seen[0]?.path).toBe(path);
    expect(seen[0]?.headers.authorization).toBe('Bearer sk-test');
    expect(seen[0]?.body['max_tokens'] ?? seen[0]?.body['max_output_tokens']).toBe(512);
    expect(JSON.stringify(seen[0]?.body).length).toBeLessThan(200);
  });

  it.each<[ProbeProtocol, 'plain' | 'stream', string]>([
    ['messages', 'plain', '{"type":"message","content":[]}'],
    ['chat-completions', 'plain', '{"choices":[{"message":{"content":"pong"}}]}'],
    ['responses', 'plain', '{"object":"response","status":"incomplete"}'],
    ['messages', 'stream', sse('{"type":"message_start"}', '{"type":"ping"}', '{"type":"message_stop"}')],
    ['chat-completions', 'stream', sse('{"choices":[]}', '[DONE]')],
    ['chat-completions', 'stream', sse('{"choices":[]}', '[DONE]').replaceAll('\n', '\r\n')],
    ['responses', 'stream', sse('{"type":"response.created"}', '{"type":"response.completed"}')],
  ])('finds a whole answer up: %s, %s', async (protocol, mode, body) => {
    reply(200, body);
    const result = await run(target(protocol, mode));
    expect(result).toMatchObject({ outcome: 'up', reason: null, status: 200 });
    expect(result.latencyMs).toBeGreaterThanOrEqual(result.timeToFirstByteMs ?? Infinity);
  });

  it.each<[string, ProbeProtocol, 'plain' | 'stream', string]>([
    ['empty', 'messages', 'plain', ''],
    ['HTML', 'messages', 'plain', '<html>'],
    ['an error', 'messages', 'plain', '{"type":"error"}'],
    ['no choice', 'chat-completions', 'plain', '{"choices":[]}'],
    ['failed', 'responses', 'plain', '{"object":"response","status":"failed"}'],
    ['cut', 'messages', 'stream', sse('{"type":"message_start"}')],
    ['cut', 'chat-completions', 'stream', sse('{"choices":[]}')],
    ['nothing but the end', 'chat-completions', 'stream', sse('[DONE]')],
    ['an error before the end', 'chat-completions', 'stream', sse('{"error":{}}', '[DONE]')],
    ['an error before the end', 'messages', 'stream', sse('{"type":"error"}', '{"type":"message_stop"}')],
    ['failed', 'responses', 'stream', sse('{"type":"response.failed"}')],
    ['broken JSON', 'messages', 'stream', sse('{"type":', '{"type":"message_stop"}')],
  ])('finds an answer with status 200 down when it is %s: %s, %s', async (_, protocol, mode, body) => {
    reply(200, body);
    expect(await run(target(protocol, mode))).toMatchObject({ outcome: 'down', reason: 'malformed_answer' });
  });

  it.each([
    [401, 'no_data'],
    [402, 'no_data'],
    [403, 'no_data'],
    [429, 'no_data'],
    [400, 'down'],
    [404, 'down'],
    [302, 'down'],
    [500, 'down'],
    [503, 'down'],
    [529, 'down'],
  ])('answered with %i has outcome %s', async (status, outcome) => {
    reply(status, '{"error":{"message":"no"}}');
    expect(await run(target('messages'))).toMatchObject({
      outcome,
      status,
      reason: `status_${status}`,
      latencyMs: null,
    });
    expect(seen).toHaveLength(1);
  });

  it('of a model that just left the catalog says nothing about it', async () => {
    reply(400, '{"error":{"message":"Requested model m is not available in the service"}}');
    expect(await run(target('messages'))).toMatchObject({ outcome: 'no_data' });
  });

  it('that gets no answer is down', async () => {
    answer = () => {};
    expect(await run(target('messages'), 50)).toMatchObject({ outcome: 'down', reason: 'timeout', status: null });
    answer = (response) => void response.destroy();
    expect(await run(target('messages'))).toMatchObject({ outcome: 'down', reason: 'no_connection' });
    answer = (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{');
      setTimeout(() => response.destroy(), 5);
    };
    expect(await run(target('messages'))).toMatchObject({ outcome: 'down', reason: 'no_connection' });
  });

  it('that is interrupted says nothing at all', async () => {
    const controller = new AbortController();
    answer = () => controller.abort();
    await expect(
      probe({ baseUrl, apiKey: 'k', target: target('messages'), timeoutMs: 5_000, signal: controller.signal }),
    ).rejects.toThrow('aborted');
  });

  it('goes over every protocol in both modes for every model', async () => {
    reply(500, '');
    const results = await probeAll({ baseUrl, apiKey: 'k', models: ['a', 'b'] });
    const ways = results.map(({ model, protocol, mode }) => `${model} ${protocol} ${mode}`);
    expect(new Set(ways).size).toBe(12);
    expect(results).toHaveLength(12);
  });
});

const execute = (...args: string[]) => executeIn({ STEYG_API_KEY: 'sk-x' }, args);
const executeIn = async (env: NodeJS.ProcessEnv, args: string[]) => {
  const lines: string[] = [];
  const errors: string[] = [];
  const output = { out: (line: string) => void lines.push(line), error: (line: string) => void errors.push(line) };
  return { code: await runProbeCommand(args, env, output), lines, errors };
};
const healthy = () => {
  answer = (response, { path, body }) => {
    if (path.endsWith('/models')) response.end('{"data":[{"id":"a"},{"id":"b"}]}');
    else if (body['model'] === 'broken') response.writeHead(502).end();
    else response.end('{"type":"message","content":[]}');
  };
};

describe('the probe command', () => {
  it('reads the models, prints a line for each probe and ends with 0', async () => {
    healthy();
    const { code, lines } = await execute('--base-url', `${baseUrl}/`, '--protocols', 'messages', '--json');
    const results = lines.map((line) => JSON.parse(line) as { model: string; mode: string; outcome: string });
    expect(new Set(results.filter((r) => r.mode === 'plain').map((r) => `${r.model} ${r.outcome}`))).toEqual(
      new Set(['a up', 'b up']),
    );
    expect(lines.join()).not.toContain('sk-x');
    // The streams of this little server are not whole, and the command says so.
    expect(code).toBe(1);
  });

  it('ends with 1 when a model is down, and with 2 when it was not understood', async () => {
    healthy();
    const down = await execute('--base-url', baseUrl, '--models', 'broken', '--protocols', 'messages');
    expect([down.code, down.lines.length]).toEqual([1, 2]);
    expect(down.lines[0]).toContain('status_502');
    for (const args of [
      [],
      ['--base-url', 'x'],
      ['--wrong'],
      ['--base-url', baseUrl, '--protocols', 'smtp'],
      ['--base-url', baseUrl, '--protocols', ''],
      ['--base-url', baseUrl, '--models', ','],
      ['--base-url', baseUrl, '--key-file', '/nowhere/key', '--models', 'a'],
      ['--base-url', baseUrl, '--key', 'k', '--models', 'a'],
      ['--base-url', baseUrl, '--token', 'k'],
      ['--base-url', 'ftp://127.0.0.1/api'],
      ['--base-url', baseUrl, '--timeout-ms', '99999999999'],
    ])
      expect(await execute(...args)).toMatchObject({ code: 2, lines: [] });
    for (const key of [undefined, 'a\nb']) {
      const env = key === undefined ? {} : { STEYG_API_KEY: key };
      expect(await executeIn(env, ['--base-url', baseUrl, '--models', 'a'])).toMatchObject({ code: 2, lines: [] });
    }
  });

  it('does not take what could not be measured for good health', async () => {
    reply(401, '{}');
    const args = ['--base-url', baseUrl, '--models', 'a', '--protocols', 'messages'];
    expect(await execute(...args)).toMatchObject({ code: 3, errors: ['Nothing was measured (status_401).'] });
    const { lines, code } = await execute(...args, '--json');
    expect(code).toBe(3);
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      error: { code: 'nothing_measured', message: 'Nothing was measured (status_401).' },
    });
    reply(200, '{"data":[]}');
    expect(await execute('--base-url', baseUrl)).toMatchObject({
      code: 3,
      errors: ['Nothing was measured (the key may call no model).'],
    });
  });

  it('says what to check when the model list cannot be read', async () => {
    reply(401, '{}');
    expect(await execute('--base-url', baseUrl)).toMatchObject({
      code: 1,
      lines: [],
      errors: ['The model list could not be read (status 401): check the address (it ends in /api) and the key.'],
    });
    reply(200, '<html>');
    const page = await execute('--base-url', baseUrl, '--json');
    expect(page).toMatchObject({ code: 1, errors: [] });
    expect(JSON.parse(page.lines[0] ?? '')).toMatchObject({ error: { code: 'models_unreadable' } });
    answer = () => undefined;
    expect(await execute('--base-url', baseUrl, '--timeout-ms', '50')).toMatchObject({
      code: 1,
      errors: [expect.stringContaining('(TimeoutError)')],
    });
  });

  it('helps', async () => {
    expect(await execute('--help')).toMatchObject({ code: 0, errors: [], lines: [expect.stringContaining('usage:')] });
  });
});
