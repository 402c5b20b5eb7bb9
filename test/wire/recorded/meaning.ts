import type { Protocol } from '../../../server/core/protocol.ts';

/** What an answer says to its client, whatever its protocol, read as clients read it. */
export interface Meaning {
  text: string;
  reasoning: string;
  calls: { name: string; input: unknown }[];
}

interface Call {
  name: string;
  json: string;
}
interface Block {
  type: string;
  text?: string;
  thinking?: string;
  name?: string;
  input?: unknown;
}
interface Item {
  type: string;
  name?: string;
  arguments?: string;
  content?: { type: string; text?: string; refusal?: string }[];
  summary?: { text: string }[];
}
interface Message {
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: { index?: number; function: { name?: string; arguments?: string } }[];
}

const meant = (text: string, reasoning: string, calls: Call[]): Meaning => ({
  text,
  reasoning,
  calls: calls.map(({ name, json }) => ({ name, input: JSON.parse(json) })),
});

/** Of a whole answer, as parsed. */
export function meaningOf(client: Protocol, body: unknown): Meaning {
  if (client === 'messages') return ofBlocks((body as { content: Block[] }).content);
  if (client === 'responses') return ofItems((body as { output: Item[] }).output);
  const [choice] = (body as { choices: { message: Message }[] }).choices;
  const { content, reasoning_content = '', tool_calls = [] } = choice?.message ?? {};
  const calls = tool_calls.map(({ function: { name = '', arguments: json = '' } }) => ({ name, json }));
  return meant(content ?? '', reasoning_content, calls);
}

function ofBlocks(blocks: Block[]): Meaning {
  const join = (type: string, member: 'text' | 'thinking'): string =>
    blocks.map((block) => (block.type === type ? (block[member] ?? '') : '')).join('');
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  const named = calls.map(({ name = '', input }) => ({ name, json: JSON.stringify(input) }));
  return meant(join('text', 'text'), join('thinking', 'thinking'), named);
}

function ofItems(items: Item[]): Meaning {
  const text = items.flatMap(({ content = [] }) => content.map((part) => part.text ?? '')).join('');
  const reasoning = items.flatMap(({ summary = [] }) => summary.map((part) => part.text)).join('');
  const calls = items.filter(({ type }) => type === 'function_call');
  return meant(
    text,
    reasoning,
    calls.map(({ name = '', arguments: json = '' }) => ({ name, json })),
  );
}

/** Of a stream's events, as data without names. */
export function streamedMeaning(client: Protocol, events: unknown[]): Meaning {
  if (client === 'messages') return ofBlocks(blocksOf(events as BlockEvent[]));
  if (client === 'responses') {
    const done = (events as { type: string; item: Item }[]).filter(({ type }) => type === 'response.output_item.done');
    return ofItems(done.map(({ item }) => item));
  }
  let text = '';
  let reasoning = '';
  const calls: Call[] = [];
  for (const { choices } of events as { choices?: { delta: Message }[] }[]) {
    const { content, reasoning_content = '', tool_calls = [] } = choices?.[0]?.delta ?? {};
    text += content ?? '';
    reasoning += reasoning_content;
    for (const { index = 0, function: piece } of tool_calls) {
      const call = (calls[index] ??= { name: '', json: '' });
      call.name += piece.name ?? '';
      call.json += piece.arguments ?? '';
    }
  }
  return meant(text, reasoning, calls);
}

interface BlockEvent {
  type: string;
  index: number;
  content_block: Block;
  delta: { text?: string; thinking?: string; partial_json?: string };
}

function blocksOf(events: BlockEvent[]): Block[] {
  const blocks: Block[] = [];
  const json: string[] = [];
  for (const { type, index, content_block, delta } of events) {
    if (type === 'content_block_start') blocks[index] = { ...content_block };
    const block = blocks[index];
    if (type !== 'content_block_delta' || block === undefined) continue;
    if (delta.text !== undefined) block.text = (block.text ?? '') + delta.text;
    if (delta.thinking !== undefined) block.thinking = (block.thinking ?? '') + delta.thinking;
    if (delta.partial_json !== undefined) json[index] = (json[index] ?? '') + delta.partial_json;
  }
  return blocks.map((block, index) => (json[index] ? { ...block, input: JSON.parse(json[index]) } : block));
}
