import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runReplay } from '../../server/gateway/replay/command.ts';
import { readRecording } from '../../server/gateway/replay/recorded.ts';
import { replay } from '../../server/gateway/replay/replay.ts';
import { createDirectory } from '../support/directory.ts';

/** What an operator is told of recorded answers, and that the report keeps their content. */

const fixtures = readFileSync(fileURLToPath(new URL('../wire/recorded/answers.ndjson', import.meta.url)), 'utf8')
  .trim()
  .split('\n');

it.each(fixtures.map((line) => [(JSON.parse(line) as { what: string }).what, line]))(
  'the usage of a published answer is what its vendor counts: %s',
  (_what, line) => {
    const { expected } = JSON.parse(line) as { expected: number[] };
    const [recorded] = readRecording(line);
    if (recorded === undefined) throw new Error('the fixture has no exchange');
    const { views } = replay(recorded, { prices: null, contextWindow: 200_000 });
    for (const { usage, usageSource, outcome } of views) {
      const { input, cacheHit, cacheWrite5m, cacheWrite1h, output } = usage ?? {};
      expect([input, cacheHit, cacheWrite5m, cacheWrite1h, output]).toEqual(expected);
      expect([outcome, usageSource]).toEqual(['answer', 'reported']);
    }
  },
);

const secret = 'Nobody else may read this';
const answer = {
  choices: [{ index: 0, message: { role: 'assistant', content: secret }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9_000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 5_000 } },
};
const request = { model: 'm', messages: [{ role: 'user', content: secret }] };
const url = 'https://vendor.test/v1/chat/completions';

function run(text: string, ...args: string[]) {
  const directory = createDirectory('replay-');
  const path = join(directory, 'recorded');
  writeFileSync(path, text);
  const printed: string[] = [];
  const code = runReplay([path, ...args], (said) => printed.push(said));
  rmSync(directory, { recursive: true });
  return { code, text: printed.join('\n') };
}

describe('the command', () => {
  const prices = ['--input', '3', '--output', '15', '--cache-hit', '0.3'];

  it('says what each client would have seen and paid, and nothing of what was said', () => {
    const { code, text } = run(JSON.stringify({ url, request, response: answer }), ...prices);
    expect(code).toBe(0);
    // 4,000 at 3 USD, 5,000 at 0.3 USD and 5 at 15 USD per million.
    expect(text.match(/0\.013575 USD/g)).toHaveLength(3);
    expect(text).not.toContain(secret);
  });

  it('reads HAR like lines', () => {
    const entry = {
      request: { url, postData: { text: JSON.stringify(request) } },
      response: {
        status: 200,
        content: {
          mimeType: 'application/json',
          encoding: 'base64',
          text: Buffer.from(JSON.stringify(answer)).toString('base64'),
        },
      },
    };
    const har = run(JSON.stringify({ log: { entries: [entry] } }), ...prices);
    expect(har).toEqual(run(JSON.stringify({ url, request, response: answer }), ...prices));
  });

  it('marks streams that end early and answers that cannot be read, and says so by its exit code', () => {
    const cut = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: secret } }] })}\n\n`;
    const lines = [
      { url, response: cut },
      { url, response: { choices: [], said: secret } },
    ];
    const { code, text } = run(lines.map((each) => JSON.stringify(each)).join('\n'));
    expect(code).toBe(1);
    expect(text).toContain('! messages         stream, open');
    expect(text).toContain('! messages         unreadable: The upstream answered with no choice.');
    expect(text).not.toContain(secret);
  });

  it.each([
    ['', 'empty'],
    ['{"url":1}', 'Line 1'],
    [JSON.stringify({ url: 'https://vendor.test/v1/embeddings', response: {} }), 'no exchange'],
  ])('a file that cannot be used is named as such (%#)', (text, said) => {
    const refused = run(text);
    expect(refused.code).toBe(2);
    expect(refused.text).toContain(said);
  });
});
