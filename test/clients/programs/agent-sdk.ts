/** Asks once with Anthropic's Agent SDK, as a program that is built on it does. Run by `npm run test:clients` beside the package. */

const { BASE_URL, KEY, MODEL } = process.env;
const [, , prompt = '', mode] = process.argv;
const name = '@anthropic-ai/claude-agent-sdk';

interface Result {
  type: string;
  subtype?: string;
  is_error?: boolean;
  result?: string;
  errors?: string[];
}

const { query } = (await import(name)) as {
  query(asked: { prompt: string; options: Record<string, unknown> }): AsyncIterable<Result>;
};
const answer = query({
  prompt,
  options: {
    model: MODEL,
    cwd: process.cwd(),
    continue: mode === 'continue',
    permissionMode: 'acceptEdits',
    allowedTools: ['Write'],
    env: {
      ...process.env,
      ANTHROPIC_BASE_URL: BASE_URL,
      ANTHROPIC_AUTH_TOKEN: KEY,
      ANTHROPIC_SMALL_FAST_MODEL: MODEL,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: MODEL,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  },
});
let failed = true;
for await (const message of answer) {
  if (message.type !== 'result') continue;
  failed = message.subtype !== 'success' || message.is_error === true;
  process.stdout.write(`${message.result ?? message.errors?.join('\n') ?? ''}\n`);
}
process.exit(failed ? 1 : 0);
