import type { Protocol } from '../core/protocol.ts';
import { isNumber, isObject, type Json, numberValue } from './dialogue/json.ts';
import type { Gate } from './protocol.ts';

/**
 * Every top-level member and content part of each protocol that is known here, and what it changes besides the words of the
 * answer. The gates, the translation and the reference are made of these tables. What stands in none of them passes natively,
 * is counted by its name, and is refused by translation and for models whose catalog entry says so.
 */

/** What a member changes: what the vendor charges, whose data is reached, the form of the answer, or its words alone. */
export type Effect = 'price' | 'tenant' | 'form' | 'words';

export interface MemberGate {
  kind: Gate['kind'];
  /** Name in the catalog's `allow`; the member's own name when absent. */
  name?: string;
  /** Whether a value asks for nothing. `null`, `false` and empty lists never ask for anything. */
  isOff?: (value: Json) => boolean;
  /** Why it is not available, where the sentence for its kind does not say it. */
  because?: string;
  translationDrops?: boolean;
  /** Its value is a word that prices may have a variant for. */
  isVariant?: true;
  details?: Record<string, unknown>;
}

/**
 * What becomes of each top-level field of a request: `read` by the translation, `drop`ped because it changes
 * nothing in the answer that a client relies on (the README lists each), or allowed only with a harmless value.
 */
export type FieldRule = 'read' | 'drop' | ((value: Json) => boolean);

export interface MemberRule {
  effect: Effect;
  /** The vendor's page that says so. */
  page: string;
  /** Must be named in the catalog entry's `allow`. */
  gate?: MemberGate;
  /** What translation makes of it; absent: refused. */
  translation?: FieldRule;
}

export interface MemberTable {
  members: Readonly<Record<string, MemberRule>>;
  /** Content parts and blocks by their `type`; those without a gate are listed only to be known. */
  parts: Readonly<Record<string, { effect: Effect; page: string; gate?: MemberGate }>>;
  /** Items of a response's input by their `type`; absent where the protocol has none. */
  items?: MemberTable['parts'];
}

/**
 * The vendors' own descriptions. What stands under the first three is declared in the vendors' published client libraries,
 * which a test holds these tables against.
 */
export const memberPages = {
  messages: 'https://platform.claude.com/docs/en/api/messages',
  chat: 'https://platform.openai.com/docs/api-reference/chat/create',
  completions: 'https://platform.openai.com/docs/api-reference/completions/create',
  responses: 'https://platform.openai.com/docs/api-reference/responses/create',
  embeddings: 'https://platform.openai.com/docs/api-reference/embeddings/create',
  images: 'https://platform.openai.com/docs/api-reference/images/create',
  fastMode: 'https://platform.claude.com/docs/en/build-with-claude/fast-mode',
  residency: 'https://platform.claude.com/docs/en/build-with-claude/data-residency',
  tiers: 'https://platform.claude.com/docs/en/api/service-tiers',
  openaiTiers: 'https://developers.openai.com/api/docs/guides/fast-mode',
  // The requests that its published client library (1.3) declares.
  openrouter: 'https://www.npmjs.com/package/@openrouter/sdk',
  providers: 'https://openrouter.ai/docs/guides/routing/provider-selection',
  deferred: 'https://docs.x.ai/docs/guides/deferred-chat-completions',
  // Withdrawn by the vendor in favour of tools; other vendors took the member over.
  liveSearch: 'https://github.com/vercel/ai/pull/15713',
  qwen: 'https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope',
  mistral: 'https://docs.mistral.ai/capabilities/reasoning/',
  deepseek: 'https://api-docs.deepseek.com/guides/thinking_mode',
} as const;

/** Members that translation treats alike, by name. */
function listed(
  effect: Effect,
  page: string,
  translation: FieldRule | undefined,
  names: string,
): Record<string, MemberRule> {
  const rule: MemberRule = { effect, page, ...(translation === undefined ? {} : { translation }) };
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]));
}

/** Known content parts that change nothing, by type. */
function plainParts(page: string, types: string): MemberTable['parts'] {
  return Object.fromEntries(types.split(' ').map((type) => [type, { effect: 'words', page }]));
}

/** A member that only passes where the catalog entry allows it. Translation leaves out what asks for nothing. */
function gated(effect: Effect, page: string, gate: MemberGate, translation?: FieldRule): MemberRule {
  return { effect, page, gate, ...(translation === undefined ? {} : { translation }) };
}

const isZero: FieldRule = (value) => isNumber(value) && numberValue(value) === 0;
const isEmptyList = (value: Json): boolean => Array.isArray(value) && value.length === 0;
const oneOf =
  (...words: Json[]) =>
  (value: Json): boolean =>
    words.includes(value);
// `on_demand`: https://console.groq.com/docs/service-tiers
const isStandardTier = oneOf('auto', 'default', 'standard', 'standard_only', 'on_demand');
const isWordOff = oneOf('off', 'none', 'disabled');
/** A switch within the value is off. */
const isDisabled = (value: Json): boolean => isObject(value) && value.enabled === false;
const isSearchOff = (value: Json): boolean =>
  isWordOff(value) || (isObject(value) && (isWordOff(value.mode ?? null) || value.enabled === false));
const isEmptyObject = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;

const price: MemberGate = { kind: 'price' };
const tenant: MemberGate = { kind: 'tenant' };
const serviceTier: MemberGate = { kind: 'price', isOff: isStandardTier, isVariant: true };

/** Some upstreams are gateways themselves, in all protocols: these let another model or provider answer, or add paid steps. */
const gatewayMembers: Record<string, MemberRule> = {
  preset: gated('tenant', memberPages.openrouter, tenant),
  models: gated('price', memberPages.openrouter, price),
  fallbacks: gated('price', memberPages.messages, price),
  provider: gated('price', memberPages.providers, { kind: 'price', isOff: isEmptyObject }),
  plugins: gated('price', memberPages.openrouter, {
    kind: 'price',
    isOff: (value) => Array.isArray(value) && value.every(isDisabled),
  }),
  // Bounds the paid steps of tools that have gates of their own.
  stop_server_tools_when: { effect: 'price', page: memberPages.openrouter, gate: price },
  image_config: { effect: 'price', page: memberPages.openrouter, gate: { kind: 'price', isOff: isEmptyObject } },
  ...listed('words', memberPages.openrouter, 'drop', 'session_id trace'),
};

const modalities: MemberRule = {
  effect: 'form',
  page: memberPages.chat,
  translation: (value) => Array.isArray(value) && value.every((modality) => modality === 'text'),
};

const deferred: MemberGate = {
  kind: 'price',
  because: 'its answer would have to be fetched later, from an address that this service does not have',
};

export const memberTables: Readonly<Record<Protocol, MemberTable>> = {
  messages: {
    members: {
      ...gatewayMembers,
      ...listed('form', memberPages.messages, 'read', 'model stream output_config output_format thinking tool_choice'),
      ...listed(
        'words',
        memberPages.messages,
        'read',
        'max_tokens messages stop_sequences system temperature top_k top_p',
      ),
      ...listed('words', memberPages.messages, 'read', 'metadata tools'),
      ...listed('words', memberPages.messages, 'drop', 'context_management diagnostics'),
      // Written and read caches have their own prices, which the usage tells apart.
      ...listed('words', memberPages.messages, 'drop', 'cache_control'),
      ...listed('form', memberPages.messages, undefined, 'compaction'),
      // A newer client that sees exactly these details resends the whole history without `thread`. Ignoring the field
      // instead would lose every earlier turn.
      thread: gated('tenant', memberPages.messages, {
        kind: 'tenant',
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      }),
      container: gated('tenant', memberPages.messages, tenant),
      fallback_credit_token: gated('tenant', memberPages.messages, tenant),
      billing_policy: gated('price', memberPages.messages, price),
      speed: gated('price', memberPages.fastMode, {
        kind: 'price',
        isOff: oneOf('standard'),
        isVariant: true,
      }),
      inference_geo: gated('price', memberPages.residency, {
        kind: 'price',
        isOff: oneOf('global'),
        isVariant: true,
      }),
      service_tier: gated('price', memberPages.tiers, serviceTier),
      mcp_servers: gated('price', memberPages.messages, price),
    },
    parts: plainParts(
      memberPages.messages,
      'text image document search_result tool_use tool_result thinking redacted_thinking server_tool_use tool_reference ' +
        'web_search_tool_result web_search_result web_fetch_tool_result web_fetch_result advisor_tool_result ' +
        'code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result ' +
        'tool_search_tool_result mcp_tool_use mcp_tool_result mcp_tool_listing container_upload compaction ' +
        'tool_addition tool_removal fallback',
    ),
  },
  'chat-completions': {
    members: {
      ...gatewayMembers,
      ...listed('form', memberPages.chat, 'read', 'model stream stream_options response_format tool_choice'),
      ...listed(
        'words',
        memberPages.chat,
        'read',
        'max_completion_tokens max_tokens messages parallel_tool_calls tools',
      ),
      ...listed(
        'words',
        memberPages.chat,
        'read',
        'prompt_cache_key reasoning_effort safety_identifier stop temperature',
      ),
      ...listed('words', memberPages.chat, 'read', 'top_k top_p user verbosity'),
      ...listed('words', memberPages.openrouter, 'read', 'reasoning usage'),
      ...listed(
        'words',
        memberPages.chat,
        'drop',
        'cache_control metadata prompt_cache_options prompt_cache_retention seed',
      ),
      ...listed('words', memberPages.chat, isZero, 'frequency_penalty presence_penalty top_logprobs'),
      ...listed('words', memberPages.chat, undefined, 'prediction'),
      ...listed('form', memberPages.chat, undefined, 'moderation'),
      ...listed('words', memberPages.deepseek, 'read', 'thinking'),
      ...listed('words', memberPages.qwen, 'read', 'enable_thinking thinking_budget'),
      ...listed('words', memberPages.openrouter, undefined, 'min_p repetition_penalty top_a'),
      ...listed('form', memberPages.openrouter, undefined, 'debug'),
      function_call: { effect: 'form', page: memberPages.chat, translation: oneOf('none', 'auto') },
      functions: { effect: 'form', page: memberPages.chat, translation: isEmptyList },
      logit_bias: {
        effect: 'words',
        page: memberPages.chat,
        translation: (value) => isObject(value) && Object.keys(value).length === 0,
      },
      logprobs: { effect: 'form', page: memberPages.chat, translation: (value) => value === false },
      modalities,
      // Each answer is charged; the hold counts them.
      n: {
        effect: 'form',
        page: memberPages.chat,
        translation: (value) => isNumber(value) && numberValue(value) === 1,
      },
      // The same, of which `n` come back.
      best_of: {
        effect: 'form',
        page: memberPages.completions,
        translation: (value) => isNumber(value) && numberValue(value) === 1,
      },
      deferred: gated('form', memberPages.deferred, deferred),
      previous_response_id: gated('tenant', memberPages.responses, tenant),
      conversation: gated('tenant', memberPages.responses, tenant),
      store: gated('tenant', memberPages.chat, tenant),
      service_tier: gated('price', memberPages.openaiTiers, serviceTier),
      web_search_options: gated('price', memberPages.chat, { kind: 'price', name: 'web_search', isOff: isSearchOff }),
      audio: gated('price', memberPages.chat, price),
      // Searches and programs that vendors charge for by the source or by the call.
      search_parameters: gated('price', memberPages.liveSearch, {
        kind: 'price',
        name: 'web_search',
        isOff: isSearchOff,
      }),
      enable_search: gated('price', memberPages.qwen, { kind: 'price', name: 'web_search' }),
      search_options: gated('price', memberPages.qwen, { kind: 'price', name: 'web_search', isOff: isEmptyObject }),
      enable_code_interpreter: gated('price', memberPages.qwen, { kind: 'price', name: 'code_interpreter' }),
    },
    parts: {
      ...plainParts(memberPages.chat, 'text refusal image_url file'),
      ...plainParts(memberPages.mistral, 'thinking reference'),
      ...plainParts(memberPages.openrouter, 'video_url'),
      input_audio: { effect: 'price', page: memberPages.chat, gate: price },
    },
  },
  responses: {
    members: {
      ...gatewayMembers,
      ...listed('form', memberPages.responses, 'read', 'model stream text tool_choice'),
      ...listed(
        'words',
        memberPages.responses,
        'read',
        'input instructions max_output_tokens parallel_tool_calls reasoning',
      ),
      ...listed(
        'words',
        memberPages.responses,
        'read',
        'prompt_cache_key safety_identifier temperature tools top_p user',
      ),
      ...listed('words', memberPages.responses, 'drop', 'client_metadata max_tool_calls metadata stream_options'),
      ...listed('words', memberPages.responses, 'drop', 'prompt_cache_options prompt_cache_retention'),
      ...listed('form', memberPages.responses, undefined, 'context_management'),
      ...listed('words', memberPages.responses, undefined, 'image'),
      ...listed('form', memberPages.responses, undefined, 'moderation'),
      // Granted to the operator's account.
      access_programs: gated('tenant', memberPages.responses, {
        kind: 'tenant',
        isOff: (value) => isObject(value) && Object.values(value).every(oneOf('standard')),
      }),
      background: { effect: 'form', page: memberPages.responses, translation: (value) => value === false },
      include: {
        effect: 'form',
        page: memberPages.responses,
        translation: (value) => Array.isArray(value) && !value.includes('message.output_text.logprobs'),
      },
      top_logprobs: { effect: 'form', page: memberPages.responses, translation: isZero },
      // `auto` says what is to be done with a prompt that is too long, which is refused here in words that agents compact for.
      truncation: { effect: 'words', page: memberPages.responses, translation: oneOf('disabled', 'auto') },
      modalities,
      deferred: gated('form', memberPages.deferred, deferred),
      previous_response_id: gated('tenant', memberPages.responses, tenant),
      conversation: gated('tenant', memberPages.responses, tenant),
      prompt: gated('tenant', memberPages.responses, tenant),
      store: gated('tenant', memberPages.responses, { kind: 'tenant', translationDrops: true }, 'drop'),
      service_tier: gated('price', memberPages.openaiTiers, serviceTier),
    },
    parts: {
      ...plainParts(
        memberPages.responses,
        'input_text output_text text refusal summary_text reasoning_text input_image input_file computer_screenshot',
      ),
      input_audio: { effect: 'price', page: memberPages.responses, gate: price },
    },
    items: {
      ...plainParts(
        memberPages.responses,
        'message reasoning function_call function_call_output custom_tool_call custom_tool_call_output web_search_call ' +
          'file_search_call computer_call computer_call_output code_interpreter_call image_generation_call ' +
          'local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call ' +
          'apply_patch_call_output mcp_list_tools mcp_approval_request mcp_approval_response mcp_call ' +
          'tool_search_call tool_search_output additional_tools configuration_update compaction compaction_trigger ' +
          'program program_output',
      ),
      item_reference: { effect: 'tenant', page: memberPages.responses, gate: tenant },
    },
  },
};

/** What a body is: a request of a protocol, or one for embeddings or images. */
export type BodyKind = Protocol | 'embeddings' | 'images';

const tables: Readonly<Record<BodyKind, MemberTable>> = {
  ...memberTables,
  embeddings: {
    members: {
      ...gatewayMembers,
      ...listed('form', memberPages.embeddings, undefined, 'model encoding_format dimensions'),
      ...listed('words', memberPages.embeddings, undefined, 'input user'),
    },
    parts: {},
  },
  images: {
    members: {
      ...gatewayMembers,
      ...listed('form', memberPages.images, undefined, 'model n size quality background stream partial_images style'),
      ...listed('form', memberPages.images, undefined, 'output_format output_compression response_format'),
      ...listed('words', memberPages.images, undefined, 'prompt image images mask markup moderation input_fidelity'),
      ...listed('words', memberPages.images, undefined, 'complexity safety_identifier user'),
    },
    parts: {},
  },
};

/** The table of a kind of body. */
export function membersOf(body: BodyKind): MemberTable {
  return tables[body];
}

/** Whether a value of a gated member asks for nothing: then it passes natively, and translation leaves it out. */
export function asksForNothing(gate: MemberGate, value: Json): boolean {
  return value === null || value === false || isEmptyList(value) || gate.isOff?.(value) === true;
}

/** What translation makes of each member of a client's body; every other one is refused. */
export function translationRules(protocol: Protocol): Readonly<Record<string, FieldRule>> {
  const rules = Object.entries(memberTables[protocol].members);
  return Object.fromEntries(rules.flatMap(([name, rule]) => ruleOf(rule).map((known) => [name, known])));
}

function ruleOf({ gate, translation }: MemberRule): FieldRule[] {
  if (translation !== undefined) return [translation];
  return gate === undefined ? [] : [(value) => asksForNothing(gate, value)];
}

/**
 * The known member that this name would be taken for by a decoder which ignores case, `_` and `-`; null when it is known itself
 * or is like none. Such a decoder would read what no gate has seen.
 */
export function mistakenFor(body: BodyKind, name: string): string | null {
  if (Object.hasOwn(tables[body].members, name)) return null;
  return foldedMembers[body].get(folded(name)) ?? null;
}

/** Whether items of this type are in the table of responses. */
export function isKnownItem(type: string): boolean {
  return Object.hasOwn(memberTables.responses.items ?? {}, type);
}

/** `web_search_20250305`, `web_search_preview` and `web_search_preview_2025_03_11` are all one tool. */
export function withoutToolVersion(type: string): string {
  return type.replace(/(_preview)?(_\d{8}|_\d{4}_\d{2}_\d{2})?$/, '');
}

const vendorTool =
  /^(?:openrouter:)?(?:web_search|web_fetch|web_extractor|x_search|live_search|code_execution|code_interpreter|file_search|collections_search|image_generation|mcp|mcp_servers|mcp_toolset|advisor|shell|local_shell|skills|tool_search|url_context|google_search|browser_search|computer|custom|namespace|apply_patch)$/;

/**
 * Whether a sentence of ours may repeat a `type`: only names of the protocols may. Anything else is the client's own text,
 * which may be somebody's secret.
 */
export function isProtocolName(type: string): boolean {
  return (
    vendorTool.test(withoutToolVersion(type)) ||
    isKnownItem(type) ||
    Object.values(memberTables).some(({ parts }) => Object.hasOwn(parts, type))
  );
}

/** Whether content parts of this type are in the protocol's table. */
export function isKnownPart(protocol: Protocol, type: string): boolean {
  return Object.hasOwn(memberTables[protocol].parts, type);
}

/** Whether the member is in the body's table. */
export function isKnownMember(body: BodyKind, name: string): boolean {
  return Object.hasOwn(tables[body].members, name);
}

/** Upper case first: `ſ` and `K` are letters that only fold one way. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase().replaceAll(/[-_]/g, '');
}

const foldedOf = (body: BodyKind): ReadonlyMap<string, string> =>
  new Map(Object.keys(tables[body].members).map((name) => [folded(name), name]));

const foldedMembers: Readonly<Record<BodyKind, ReadonlyMap<string, string>>> = {
  messages: foldedOf('messages'),
  'chat-completions': foldedOf('chat-completions'),
  responses: foldedOf('responses'),
  embeddings: foldedOf('embeddings'),
  images: foldedOf('images'),
};
