/**
 * Asks with OpenRouter's SDK: an answer as a stream, with a tool that writes a file, or with `WHAT=calls` all of its calls that
 * a gateway has. Run by `npm run test:clients` beside the package.
 */

import { writeFile } from 'node:fs/promises';

const { BASE_URL, KEY, MODEL, WHAT } = process.env;

interface ToolCall {
  index: number;
  id?: string;
  function?: { name?: string; arguments?: string };
}
interface Chunk {
  choices: { delta: { content?: string | null; toolCalls?: ToolCall[] } }[];
  error?: { message: string };
}
interface Model {
  id: string;
  pricing: { prompt: string };
}
interface Client {
  chat: { send(request: { chatRequest: Record<string, unknown> }): Promise<unknown> };
  models: {
    list(): Promise<AsyncIterable<{ result: { data: Model[] } }>>;
    count(): Promise<{ data: { count: number } }>;
  };
  credits: { getCredits(): Promise<{ data: { totalCredits: number; totalUsage: number } }> };
  apiKeys: { getCurrentKeyMetadata(): Promise<{ data: { usage: number } }> };
}

const name = '@openrouter/sdk';
const { OpenRouter } = (await import(name)) as { OpenRouter: new (options: Record<string, unknown>) => Client };
const client = new OpenRouter({ serverURL: BASE_URL, apiKey: KEY });

async function ask(messages: unknown[]): Promise<{ text: string; calls: ToolCall[] }> {
  const parameters = { type: 'object', properties: { path: { type: 'string' }, content: { type: 'string' } } };
  const tools = [{ type: 'function', function: { name: 'write_file', parameters } }];
  const stream = (await client.chat.send({
    chatRequest: { model: MODEL, messages, tools, stream: true },
  })) as AsyncIterable<Chunk>;
  let text = '';
  const calls: ToolCall[] = [];
  for await (const { choices, error } of stream) {
    if (error !== undefined) throw new Error(error.message);
    const delta = choices[0]?.delta;
    text += delta?.content ?? '';
    for (const { index, id, function: called } of delta?.toolCalls ?? []) {
      const call = (calls[index] ??= { index, id: id ?? '', function: { name: '', arguments: '' } });
      const { name: known = '', arguments: soFar = '' } = call.function ?? {};
      call.function = { name: known + (called?.name ?? ''), arguments: soFar + (called?.arguments ?? '') };
    }
  }
  return { text, calls };
}

async function converse(prompt: string): Promise<void> {
  const messages: unknown[] = [{ role: 'user', content: prompt }];
  for (let turn = 0; turn < 3; turn += 1) {
    const { text, calls } = await ask(messages);
    if (calls.length === 0) {
      process.stdout.write(`${text}\n`);
      return;
    }
    const toolCalls = calls.map(({ id, function: called }) => ({ id, type: 'function', function: called }));
    messages.push({ role: 'assistant', content: text, toolCalls });
    for (const { id, function: called } of calls) {
      const { path, content } = JSON.parse(called?.arguments ?? '{}') as { path: string; content: string };
      await writeFile(path, content);
      messages.push({ role: 'tool', toolCallId: id, content: 'Written.' });
    }
  }
}

async function callAll(): Promise<void> {
  const models: Model[] = [];
  for await (const page of await client.models.list()) models.push(...page.result.data);
  const whole = (await client.chat.send({
    chatRequest: { model: MODEL, messages: [{ role: 'user', content: '[[say whole]]' }] },
  })) as { choices: { message: { content: string } }[] };
  const credits = await client.credits.getCredits();
  const key = await client.apiKeys.getCurrentKeyMetadata();
  process.stdout.write(
    `${JSON.stringify({
      models: models.map(({ id }) => id),
      whole: whole.choices[0]?.message.content,
      credits: credits.data.totalCredits,
      usage: typeof key.data.usage,
    })}\n`,
  );
}

try {
  await (WHAT === 'calls' ? callAll() : converse(process.argv[2] ?? ''));
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
}
