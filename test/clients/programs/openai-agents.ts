/** Runs an agent of OpenAI's Agents SDK with one tool, streamed. Run by `npm run test:clients` beside the package. */

import { writeFile } from 'node:fs/promises';

const { BASE_URL, KEY, MODEL, API } = process.env;

interface Stream extends AsyncIterable<unknown> {
  completed: Promise<void>;
  finalOutput?: string;
}
interface Agents {
  Agent: new (described: Record<string, unknown>) => unknown;
  OpenAIProvider: new (options: Record<string, unknown>) => unknown;
  Runner: new (
    options: Record<string, unknown>,
  ) => {
    run(agent: unknown, prompt: string, options: { stream: true }): Promise<Stream>;
  };
  tool(described: Record<string, unknown>): unknown;
}

const name = '@openai/agents';
const { Agent, OpenAIProvider, Runner, tool } = (await import(name)) as Agents;
const write = tool({
  name: 'write_file',
  description: 'Writes a file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' }, content: { type: 'string' } },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  strict: true,
  async execute({ path, content }: { path: string; content: string }) {
    await writeFile(path, content);
    return 'Written.';
  },
});
const modelProvider = new OpenAIProvider({ baseURL: BASE_URL, apiKey: KEY, useResponses: API === 'responses' });
const runner = new Runner({ modelProvider, tracingDisabled: true });
try {
  const agent = new Agent({
    name: 'Writer',
    instructions: 'Write what you are asked to.',
    model: MODEL,
    tools: [write],
  });
  const stream = await runner.run(agent, process.argv[2] ?? '', { stream: true });
  const events = stream[Symbol.asyncIterator]();
  for (let next = await events.next(); next.done !== true; next = await events.next());
  await stream.completed;
  process.stdout.write(`${stream.finalOutput ?? ''}\n`);
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
}
