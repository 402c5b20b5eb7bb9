import type { Protocol } from '../core/protocol.ts';
import { type JsonLimits, type JsonNode, leaf, listOf, scanJson, shape, textOf } from './json.ts';
import type { Edit, RequestFacts, WireContext } from './protocol.ts';

/**
 * Ids of tool calls that are longer than a vendor takes: other vendors make them of 46, 84 and more characters, and a session may
 * change its model in its middle. The client keeps its own ids; on the way up each becomes the same short one wherever it stands,
 * so that calls and results stay together and the vendor's cache does.
 */

/**
 * Characters that an id may have where the vendor is not known to take more.
 * Chat completions: https://github.com/microsoft/autogen/issues/6377; responses: https://github.com/AnswerDotAI/fastllm/issues/45;
 * messages: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
 */
const usualMax: Readonly<Record<Protocol, number>> = { 'chat-completions': 40, responses: 64, messages: 64 };

type IdContext = Pick<WireContext, 'callIdMax' | 'digest'>;

/** The id as the upstream takes it; one that is short enough stays. */
export function boundedCallId(id: string, upstream: Protocol, { callIdMax, digest }: IdContext): string {
  const max = callIdMax === undefined ? usualMax[upstream] : callIdMax;
  if (max === null || id.length <= max) return id;
  // 160 bits of a keyed digest: no two ids become one.
  const short = digest('call-id', id).replaceAll(/[^a-zA-Z0-9]/g, '');
  return `call_${short.slice(0, 32).padEnd(32, '0')}`;
}

const shapes: Readonly<Record<Protocol, ReturnType<typeof shape>>> = {
  messages: shape({ messages: listOf(shape({ content: listOf(shape({ type: leaf, id: leaf, tool_use_id: leaf })) })) }),
  'chat-completions': shape({
    messages: listOf(shape({ tool_call_id: leaf, tool_calls: listOf(shape({ id: leaf })) })),
  }),
  responses: shape({ input: listOf(shape({ call_id: leaf })) }),
};
/** The body has been scanned with the limits of requests before. */
const limits: JsonLimits = { maxDepth: 512, maxValues: 20_000_000, refuseDuplicates: false };

function idsIn(protocol: Protocol, root: JsonNode): JsonNode[] {
  const found =
    protocol === 'responses'
      ? (root.members.get('input')?.items ?? []).map((item) => item.members.get('call_id'))
      : (root.members.get('messages')?.items ?? []).flatMap((message) => [
          message.members.get('tool_call_id'),
          ...(message.members.get('tool_calls')?.items ?? []).map((call) => call.members.get('id')),
          ...(message.members.get('content')?.items ?? []).flatMap((block) => [
            block.members.get('tool_use_id'),
            block.members.get('id'),
          ]),
        ]);
  return found.filter((node) => node?.kind === 'string') as JsonNode[];
}

/** The edits that bound the ids of a native request. */
export function callIdEdits(raw: Uint8Array, { protocol, longestCallId }: RequestFacts, context: IdContext): Edit[] {
  const max = context.callIdMax === undefined ? usualMax[protocol] : context.callIdMax;
  if (max === null || longestCallId <= max) return [];
  return idsIn(protocol, scanJson(raw, shapes[protocol], limits)).flatMap((node) => {
    const id = textOf(raw, node) ?? '';
    const bounded = boundedCallId(id, protocol, context);
    return bounded === id ? [] : [{ start: node.start, end: node.end, text: JSON.stringify(bounded) }];
  });
}
