/** Anthropic's current models. */

import { arrayOf, isObject, type ParsedObject, wordOf } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import { isForcedChoice, messagesOf, type SimulatedVendor, unknownMembers } from './vendor.ts';

/** https://docs.claude.com/en/api/messages */
const members =
  'model max_tokens messages system metadata stop_sequences stream temperature top_k top_p thinking tools tool_choice container context_management service_tier mcp_servers output_config output_format inference_geo cache_control speed';

export function refuseAsClaude(body: ParsedObject): VendorError | null {
  const [unknown] = unknownMembers(body, members);
  if (unknown !== undefined) return invalidPrompt(`${unknown}: Extra inputs are not permitted`);
  // https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721
  const sampled = ['temperature', 'top_p', 'top_k'].find((name) => body[name] !== undefined);
  if (sampled !== undefined) return invalidPrompt(`\`${sampled}\` is deprecated for this model.`);
  const uses = badUses(body);
  if (uses !== null) return uses;
  const thinking = isObject(body['thinking']) ? body['thinking']['type'] : undefined;
  // https://github.com/pydantic/pydantic-ai/issues/2425
  if (thinking === 'enabled' && isForcedChoice(body['tool_choice'])) {
    return invalidPrompt('Thinking may not be enabled when tool_choice forces tool use.');
  }
  // https://github.com/simonw/llm-anthropic/issues/73: older models have no such role.
  const at = messagesOf(body).findIndex(({ role }) => role === 'system');
  return at < 0 ? null : invalidPrompt(`messages.${at}.role: Input should be 'user' or 'assistant'`);
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool (`max_uses`); the words are those of its other counts. */
function badUses(body: ParsedObject): VendorError | null {
  for (const [index, tool] of arrayOf(body['tools']).entries()) {
    const uses = isObject(tool) ? (tool['max_uses'] ?? null) : null;
    if (!isObject(tool) || uses === null || (Number.isInteger(uses) && Number(uses) > 0)) continue;
    const said = Number.isInteger(uses) ? 'Input should be greater than 0' : 'Input should be a valid integer';
    return invalidPrompt(`tools.${index}.${wordOf(tool['type'])}.max_uses: ${said}`);
  }
  return null;
}

export const simulatedAnthropic: SimulatedVendor = {
  id: 'anthropic',
  protocols: ['messages'],
  refuse: refuseAsClaude,
};
