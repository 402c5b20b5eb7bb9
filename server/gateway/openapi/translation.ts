import type { Protocol } from '../../core/protocol.ts';
import { mostToolUses, usualToolUses } from '../../wire/hosted-tools.ts';
import { memberTables } from '../../wire/members.ts';
import { translatedFields } from '../../wire/wires.ts';

/** Remarks beside the lists of fields, which are generated from the translation. */
const remarks: Readonly<Record<Protocol, readonly string[]>> = {
  messages: [
    'Left out within what is read: `cache_control`; `defer_loading`, `eager_input_streaming` and `input_examples` of tools; `top_k`; system blocks that begin with `x-anthropic-billing-header:`; `thinking` of earlier turns where the upstream does not take it back, and `redacted_thinking`.',
    'Refused within what is read: other tools that run at the vendor; `file` sources; citations; documents where the model takes none; more than four stop sequences; `max_tokens: 0`; a conversation that ends with the assistant; a forced `tool_choice` without tools.',
    'Said differently: a failed tool result begins with `[tool error] `; images of a tool result open the user message after it; text that followed a call stands before it; thinking that no vendor has signed carries a signature that begins with `gw1.`.',
  ],
  'chat-completions': [
    'Left out within what is read: `name` of messages; `detail` of images; `reasoning_content` of earlier turns; `strict` and `name` of a response schema; blank stop sequences. `verbosity` and `prompt_cache_key` have an equal in the responses protocol only, `top_k` in the messages protocol only.',
    'Refused within what is read: audio; uploaded files; free-text tools at a messages upstream; stop sequences at a responses upstream; `json_object` where the model lacks it; a forced `tool_choice` without tools, or beside a reasoning effort on models that think within a budget of tokens.',
    'Said differently: `temperature` above 1 becomes 1 at a messages upstream; arguments that are no JSON object become `{"_invalid_arguments": "…"}`; `allowed_tools` narrows the list of tools; call ids with characters that the messages protocol does not take are wrapped on the way there and unwrapped on the way back.',
  ],
  responses: [
    'Left out within what is read: tools of the type `tool_search`; `web_search_call` and `tool_search_call` items; `reasoning` items of earlier turns where the upstream does not take them back; `text.verbosity`; `reasoning.context`.',
    'Refused within what is read: other tools that run at the vendor; uploaded files; log probabilities; `reasoning.mode` other than `standard`; a forced `tool_choice` without tools.',
    'Said differently: a free-text tool travels as a function with the one argument `input`, and a tool of a `namespace` as a function whose name begins with that of the namespace; their calls come back in their own form; reasoning comes back as a summary, never encrypted.',
  ],
};

/** Markdown: which request members of this protocol are accepted, and what translation does with each. */
export function describeTranslation(protocol: Protocol): string {
  return [describeMembers(protocol), describeTranslated(protocol)].join('\n\n');
}

/** Markdown: members that need the model's catalog entry to allow them, and the rule for unknown members. */
function describeMembers(protocol: Protocol): string {
  const { members, parts } = memberTables[protocol];
  const gated = (table: Readonly<Record<string, { gate?: unknown }>>): string[] =>
    Object.keys(table).filter((name) => table[name]?.gate !== undefined);
  const ofParts = gated(parts);
  return [
    `Refused unless they ask for nothing or the model allows them, because they change the price or refer to what is kept at the vendor: ${list(gated(members))}${ofParts.length === 0 ? '' : `; content parts of type ${list(ofParts)}`}.`,
    `Tools that run at the vendor pass where their price is known, at most ${usualToolUses} times unless the request says another number (\`max_uses\` of a tool, \`max_tool_calls\` of a response), and ${mostToolUses} times in any case. Where nobody knows a price they are left out unless \`tool_choice\` demands them, and named in the header \`x-steyg-dropped-tools\`.`,
    'A member whose name differs from a known one only in case, `_` or `-` is refused. Any other unknown member travels unread where the upstream speaks this protocol, unless the model refuses unknown members.',
  ].join(' ');
}

function describeTranslated(protocol: Protocol): string {
  const { dropped, harmless } = translatedFields(protocol);
  return [
    'Where the upstream speaks another protocol, the request and its answer are translated. What the other protocol has no words for is refused with a 400 that names the field, fields that are not known here too. Nothing else is left out than this:',
    `- Always left out, because the answer does not depend on it: ${list(dropped)}.`,
    `- Left out when it asks for nothing special, else refused: ${list(harmless)}.`,
    '- Left out where `tool_choice` does not demand them, and named in the header `x-steyg-dropped-tools`: tools that search, fetch pages or run programs at the vendor (`web_search`, `web_fetch`, `x_search`, `code_execution`, `code_interpreter`, in every version, also with the prefix of another gateway).',
    ...remarks[protocol].map((remark) => `- ${remark}`),
  ].join('\n');
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
