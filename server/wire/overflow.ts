import type { Protocol } from '../core/protocol.ts';

/**
 * The vendor's error that a conversation does not fit the model's window. Coding agents compact their history when, and only
 * when, they recognise it, and each of them knows a few vendors' wordings: here every wording becomes the one that
 * clients of the protocol look for. The vendor's sentence, with its numbers, stays within it.
 *
 * The corpus of wordings, with the source of each, and of other errors that must not be taken for one is
 * `test/wire/overflow-wordings.ts`.
 */

/** https://platform.openai.com/docs/guides/error-codes */
export const overflowCode = 'context_length_exceeded';

/** What vendors and engines call it in `code` or `type`. */
const codes: ReadonlySet<string> = new Set([
  overflowCode,
  // ggml-org/llama.cpp, tools/server/server-common.cpp
  'exceed_context_size_error',
  'context_window_exceeded',
  // BerriAI/litellm, litellm/exceptions.py
  'ContextWindowExceededError',
  'model_context_window_exceeded',
  // https://docs.z.ai/api-reference/api-code
  '1261',
]);

/** Claude Code looks for these beginnings (code.claude.com/docs/en/llm-gateway-protocol). */
const knownToMessages = /^(?:prompt is too long|Input is too long\.)/;

/**
 * Wordings that clients of chat completions and responses find in the sentence, where their library hides the code from them:
 * earendil-works/pi, packages/ai/src/utils/overflow.ts; anomalyco/opencode, packages/opencode/src/provider/error.ts.
 */
const knownToAgents =
  /prompt is too long|input is too long|exceeds the context window|input token count.*exceeds the maximum|maximum prompt length is \d|reduce the length of the messages|maximum context length is \d+ tokens|exceeds the available context size|greater than the context length|context window exceeds limit|exceeded model token limit|context[_ ]length[_ ]exceeded|too many tokens/i;

/** A sentence that says no more than this is certain on its own. */
const plain =
  /\b(?:prompt|input|context|conversation|messages) (?:is|are) too (?:long|large)\b|\bprompt too (?:long|large)\b|\bcontext (?:length|window|size|limit) (?:is )?exceeded|\btoo many (?:input |prompt )?tokens\b|\btoken limit exceeded|\bprompt \S{0,20}超长|\bprompt exceeds max(?:imum)? length|\breduce the length of (?:the|your) (?:messages|prompt|input|conversation)/i;

/** About what is asked, not about what is answered ... */
const subject =
  /\bprompts?\b|\bcontext (?:length|window|size|limit|budget|capacity)|\bconversation\b|\b(?:the|your|this) (?:inputs?|requests?|messages|context)\b|\binputs?`? (?:(?:prompt |text )?(?:tokens?|length|sequence)|must have)|\brequest(?:ed)? (?:tokens?|\(\d)|\btokens? in (?:the |your )?(?:request|messages|prompt|input)|\bsequence length|\bmax_(?:seq_len|model_len)|\bn_ctx|\brequested about \d/i;
/** ... that there is more of it than there may be ... */
const excess =
  /\bexceed|\btoo (?:long|large|many|big)\b|\b(?:longer|greater|larger|more|higher)(?: \w+)? than\b|\bover (?:the|its)\b|\bbeyond\b|\boverflow|\b(?:must|should|can(?:not)?) (?:be|have|not be)(?: at most| less| fewer| no more| <=| ≤| <|:? ?\[\d)|\d\s*>\s*\d|\breduce (?:the |your )?(?:length|prompt|size|input|context|number)|\b(?:does not|doesn't|cannot|won't) fit\b|\bsurpass|\blimited to\b|\bis only \d|\bmaximum \w+ length is \d/i;
/** ... by the measure of a window. */
const measure =
  /\btokens?\b|\bcontext (?:length|window|size|limit|budget|capacity)|\b(?:prompt|input|sequence) length|\bmax_(?:seq_len|model_len)|\bn_ctx/i;
/** The excess is counted, or is one of the window itself. */
const certain =
  /\d{3}|\bcontext (?:length|window|size|limit|budget|capacity)|\b(?:token|input|prompt) (?:limit|length)|\bmaximum (?:input|prompt|number of (?:input )?tokens)/i;

/** Limits of a pace or of a contract are passed by waiting, not by compacting; those of the answer by asking for less. */
const otherLimit =
  /\bthrottl|\bplease wait\b|\bper[ -](?:min|hour|day|sec|month)|\b[tr]p[mdhs]\b|\brate.?limit|\bquota\b|\bcredits?\b|\bbalance\b|\bmaximum (?:allowed )?(?:number of )?(?:output|completion) tokens|\bcompletion tokens, whereas|\bcharacters?\b|\bbytes\b|\b[KMG]i?B\b|\bstring too long|\barray too long|\bbudget_tokens\b|\bcached? content\b/i;

/** Only the beginning is looked at: vendors quote their customers' texts at the end, and the work is bounded. */
const lookedAt = 2_000;
/** What is quoted is the customer's if it has words; names of members are not. An apostrophe within a word quotes nothing. */
const quoted = /"([^"\n]*)"|`([^`\n]*)`|(?<!\w)'([^'\n]*)'(?!\w)/g;
const withoutQuotes = (text: string): string =>
  text.replaceAll(quoted, (whole: string, ...inner: unknown[]) =>
    inner.slice(0, 3).some((part) => typeof part === 'string' && /\s/.test(part)) ? ' ' : whole,
  );

/** Whether an error says so. `words`: its code and type, in any order. */
export function saysOverflow(message: string, words: readonly (string | null | undefined)[] = []): boolean {
  if (words.some((word) => word != null && codes.has(word))) return true;
  const said = withoutQuotes(message.slice(0, lookedAt));
  if (otherLimit.test(said)) return false;
  return plain.test(said) || (subject.test(said) && excess.test(said) && measure.test(said) && certain.test(said));
}

/** The sentence of an overflow for clients of the protocol. */
export function overflowSentence(client: Protocol, message: string): string {
  const known = client === 'messages' ? knownToMessages : knownToAgents;
  return known.test(message.slice(0, lookedAt)) ? message : `prompt is too long: ${message}`;
}
