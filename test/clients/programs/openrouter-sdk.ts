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
    get(request: { author: string; slug: string }): Promise<{ data: Model }>;
  };
  endpoints: {
    list(request: { author: string; slug: string }): Promise<{ data: { endpoints: { modelId: string }[] } }>;
  };
  generations: { getGeneration(request: { id: string }): Promise<{ data: { totalCost: number; model: string } }> };
  beta: {
    responses: {
      send(request: {
        responsesRequest: Record<string, unknown>;
      }): Promise<AsyncIterable<{ type: string; delta?: string }> & { output: { content: { text: string }[] }[] }>;
    };
  };
  callModel(request: Record<string, unknown>): { getText(): Promise<string> };
  providers: { list(): Promise<unknown> };
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
  const { count } = (await client.models.count()).data;
  const named = { author: 'simulated', slug: MODEL ?? '' };
  const one = await client.models.get(named);
  const { endpoints } = (await client.endpoints.list(named)).data;
  const generation = await client.generations.getGeneration({ id: await idOfAnswer() });
  process.stdout.write(
    `${JSON.stringify({
      models: models.map(({ id }) => id),
      whole: whole.choices[0]?.message.content,
      credits: credits.data.totalCredits,
      usage: typeof key.data.usage,
      count: count === models.length,
      get: one.data.id,
      endpoint: endpoints[0]?.modelId,
      generation: generation.data.model,
      cost: generation.data.totalCost > 0,
      response: await respond(),
      streamed: await respondInStream(),
      callModel: await client.callModel({ model: MODEL, input: '[[say called]]' }).getText(),
      refused: await sentenceOf(() => client.chat.send({ chatRequest: { model: 'nope', messages: [] } })),
      unoffered: await sentenceOf(() => client.providers.list()),
    })}\n`,
  );
}

/** The id of a request whose answer was read to its end, from the header that every answer has. */
async function idOfAnswer(): Promise<string> {
  const answer = await fetch(`${BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'ping' }] }),
  });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
}

async function respond(): Promise<string | undefined> {
  const responsesRequest = { model: MODEL, input: '[[say response]]' };
  const { output } = await client.beta.responses.send({ responsesRequest });
  return output[0]?.content[0]?.text;
}

async function respondInStream(): Promise<string> {
  const responsesRequest = { model: MODEL, input: '[[say streamed]]', stream: true };
  let text = '';
  for await (const event of await client.beta.responses.send({ responsesRequest })) {
    if (event.type === 'response.output_text.delta') text += event.delta ?? '';
  }
  return text;
}

/** The class of the library's error and the sentence that it has from the answer. */
async function sentenceOf(call: () => Promise<unknown>): Promise<string> {
  return call().then(
    () => 'no error',
    (error: unknown) => `${error instanceof Error ? error.name : ''}: ${error instanceof Error ? error.message : ''}`,
  );
}

try {
  await (WHAT === 'calls' ? callAll() : converse(process.argv[2] ?? ''));
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
}
