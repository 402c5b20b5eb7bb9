/** Published clients, pointed at a simulator. */

import Anthropic from '@anthropic-ai/sdk';
import AnthropicBefore from '@anthropic-ai/sdk-0';
import OpenAI from 'openai';
import { createSimulator, type Simulator, type SimulatorSettings } from '../../server/simulator/simulator.ts';

/** A simulator without waiting times. */
export function fastSimulator(settings: SimulatorSettings = {}): Promise<Simulator> {
  return createSimulator({ tokensPerSecond: Number.POSITIVE_INFINITY, firstTokenMs: 0, ...settings });
}

/** The answer of a published client, in terms that the protocols share. */
export interface Told {
  text: string;
  thinking: string | null;
  tools: { name: string; input: unknown; id: string }[];
  stop: string | null;
  model: string;
  usage: unknown;
}

export interface Question {
  text: string;
  stream: boolean;
  /** Further members of the body, in the protocol's own words. */
  extra?: Record<string, unknown>;
}

/** A published client pointed at a simulator. */
export interface Client {
  name: string;
  ask(simulator: Simulator, question: Question): Promise<Told>;
}

const CLIENT_SETTINGS = { maxRetries: 0, apiKey: 'sk-test-credential' };

type Content = { type: string; text?: string; thinking?: string; name?: string; input?: unknown; id?: string };

function told(message: { content: unknown[]; stop_reason: string | null; model: string; usage: unknown }): Told {
  const content = message.content as Content[];
  return {
    text: content.map((block) => block.text ?? '').join(''),
    thinking: content.find((block) => block.type === 'thinking')?.thinking ?? null,
    tools: content
      .filter((block) => block.type === 'tool_use')
      .map(({ name = '', input, id = '' }) => ({ name, input, id })),
    stop: message.stop_reason,
    model: message.model,
    usage: message.usage,
  };
}

/** The two generations of one SDK differ in version header and credential, not in what they are called with. */
function messagesClient(name: string, sdkOf: (baseURL: string) => Anthropic | AnthropicBefore): Client {
  return {
    name,
    async ask(simulator, { text, stream, extra }) {
      const sdk = sdkOf(simulator.url) as Anthropic;
      const body = {
        model: 'sim-large',
        max_tokens: 10_000,
        messages: [{ role: 'user' as const, content: text }],
        ...extra,
      };
      return told(stream ? await sdk.messages.stream(body).finalMessage() : await sdk.messages.create(body));
    },
  };
}

const chatClient: Client = {
  name: 'openai chat completions',
  async ask(simulator, { text, stream, extra }) {
    const sdk = new OpenAI({ ...CLIENT_SETTINGS, baseURL: `${simulator.url}/v1` });
    const body = { model: 'sim-large', messages: [{ role: 'user' as const, content: text }], ...extra };
    if (!stream) return toldByChat(await sdk.chat.completions.create(body), null);
    let reasoning: string | null = null;
    const running = sdk.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
    // The SDK keeps only the last piece of a member it does not know.
    running.on('chunk', (chunk) => {
      const delta = chunk.choices[0]?.delta as { reasoning_content?: string } | undefined;
      if (delta?.reasoning_content !== undefined) reasoning = (reasoning ?? '') + delta.reasoning_content;
    });
    const completion = await running.finalChatCompletion();
    return toldByChat(completion, reasoning);
  },
};

function toldByChat(completion: OpenAI.ChatCompletion, streamedReasoning: string | null): Told {
  const choice = completion.choices[0];
  const message: (OpenAI.ChatCompletionMessage & { reasoning_content?: string }) | undefined = choice?.message;
  return {
    text: message?.content ?? '',
    thinking: streamedReasoning ?? message?.reasoning_content ?? null,
    tools: (message?.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ name: call.function.name, input: JSON.parse(call.function.arguments), id: call.id }]
        : [],
    ),
    stop: choice?.finish_reason ?? null,
    model: completion.model,
    usage: completion.usage,
  };
}

const responsesClient: Client = {
  name: 'openai responses',
  async ask(simulator, { text, stream, extra }) {
    const sdk = new OpenAI({ ...CLIENT_SETTINGS, baseURL: `${simulator.url}/v1` });
    const body = { model: 'sim-large', input: text, ...extra };
    const response = stream ? await sdk.responses.stream(body).finalResponse() : await sdk.responses.create(body);
    const thoughts = response.output.flatMap((item) => (item.type === 'reasoning' ? item.summary : []));
    return {
      text: response.output_text,
      thinking: thoughts.length === 0 ? null : thoughts.map((part) => part.text).join(''),
      tools: response.output.flatMap((item) =>
        item.type === 'function_call' ? [{ name: item.name, input: JSON.parse(item.arguments), id: item.call_id }] : [],
      ),
      stop: response.incomplete_details?.reason ?? response.status ?? null,
      model: response.model,
      usage: response.usage,
    };
  },
};

export const MESSAGES_CLIENTS: Client[] = [
  messagesClient('@anthropic-ai/sdk 1', (baseURL) => new Anthropic({ ...CLIENT_SETTINGS, baseURL })),
  messagesClient('@anthropic-ai/sdk 0', (baseURL) => new AnthropicBefore({ ...CLIENT_SETTINGS, baseURL })),
];
export const CHAT_CLIENT = chatClient;
export const RESPONSES_CLIENT = responsesClient;
export const CLIENTS: Client[] = [...MESSAGES_CLIENTS, chatClient, responsesClient];

/** The three protocols with what a bare request to each needs. */
export const PROTOCOLS = [
  {
    protocol: 'messages',
    path: '/v1/messages',
    body: (text: string, stream: boolean) => ({
      model: 'sim-large',
      max_tokens: 10_000,
      stream,
      messages: [{ role: 'user', content: text }],
    }),
    headers: { 'anthropic-version': '2023-06-01' },
    terminator: 'event: message_stop',
  },
  {
    protocol: 'chat-completions',
    path: '/v1/chat/completions',
    body: (text: string, stream: boolean) => ({
      model: 'sim-large',
      stream,
      messages: [{ role: 'user', content: text }],
    }),
    headers: {},
    terminator: 'data: [DONE]',
  },
  {
    protocol: 'responses',
    path: '/v1/responses',
    body: (text: string, stream: boolean) => ({ model: 'sim-large', stream, input: text }),
    headers: {},
    terminator: 'event: response.completed',
  },
] as const;

export type ProtocolCase = (typeof PROTOCOLS)[number];

/** Sends a bare request; the caller reads the response. */
export function send(
  simulator: Simulator,
  protocol: ProtocolCase,
  text: string,
  { stream = false, signal }: { stream?: boolean; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(simulator.url + protocol.path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-test-credential', ...protocol.headers },
    body: JSON.stringify(protocol.body(text, stream)),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Reads a body as far as it comes, and says how it ended. */
export async function readAll(response: Response): Promise<{ text: string; ended: 'whole' | 'broken' }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, ended: 'whole' };
  } catch {
    return { text, ended: 'broken' };
  }
}

/** The data lines of a stream, keep-alives left out. */
export function eventsOf(text: string): string[] {
  return text.split(/\r\n\r\n|\n\n|\r\r/).filter((event) => event !== '' && !event.startsWith('event: ping'));
}
