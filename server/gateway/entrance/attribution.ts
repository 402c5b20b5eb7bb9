import type { IncomingHttpHeaders } from 'node:http';
import {
  type Attribution,
  type AttributionDigest,
  type AttributionMode,
  attributionId,
  attributionTag,
  digestedId,
  firstTags,
  isEmpty,
  parseTags,
  storedTag,
  type Tag,
  tagsHeader,
} from '../../core/attribution.ts';
import type { Protocol } from '../../core/protocol.ts';
import type { MemberSpan, RequestFacts, WireProblem } from '../../wire/protocol.ts';

/**
 * Whom a request is attributed to: the tags of our own header, and what clients say of themselves in headers and in members of
 * the body. Members are read by the spans of the one scan; they are short, and nothing else of the body is looked at. Our own
 * header must be right (400); a client's own metadata never refuses a request: what is odd is ignored.
 */

/** Headers in which client programs name their session, the most particular first. */
const sessionHeaders: readonly string[] = [
  // Claude Code since 2.1.86: https://code.claude.com/docs/en/llm-gateway-protocol
  'x-claude-code-session-id',
  // Codex: github.com/openai/codex, codex-rs/codex-api/src/requests/headers.rs; newer ones write a dash
  // (https://github.com/openai/codex/issues/44716).
  'session_id',
  'session-id',
  'conversation_id',
  // Qwen Code: https://github.com/QwenLM/qwen-code/pull/4390
  'x-qwen-code-session-id',
  // opencode: packages/opencode/src/session/llm.ts, for its own providers and for others.
  'x-opencode-session',
  'x-session-affinity',
  // OpenRouter (https://openrouter.ai/docs/guides/features/broadcast/overview) and opencode.
  'x-session-id',
  // GitHub Copilot's command line and Kilo Code: https://github.com/coder/aibridge, session.go
  'x-client-session-id',
  'x-kilocode-taskid',
];

/** JSON of this size is parsed; no client's metadata comes near. OpenAI allows 16 pairs of 64 and 512 characters. */
const maxMemberBytes = 12_288;

/** Codex sends the id of its conversation as the key of the prompt cache; a key of another shape is shared by many sessions. */
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Digests that a process remembers: some megabytes. */
const maxRemembered = 10_000;

/** Sessions, users and tags repeat: each is digested once, and looked up afterwards. */
export function rememberDigests(digest: AttributionDigest): AttributionDigest {
  let remembered = new Map<string, string>();
  return (scope, text) => {
    const key = `${scope}\0${text}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const made = digest(scope, text);
    if (remembered.size >= maxRemembered) remembered = new Map();
    remembered.set(key, made);
    return made;
  };
}

/** What a client says, before any of it is digested. */
interface Named {
  session: string | null;
  user: string | null;
  tags: Tag[];
}

export interface AttributedCall {
  accountId: string;
  mode: AttributionMode;
  protocol: Protocol;
  headers: IncomingHttpHeaders;
  /** The body, and the spans of its members. */
  raw: Uint8Array;
  members: RequestFacts['members'];
  digest: AttributionDigest;
}

/** Null: the request names nothing that is to be stored. A problem: the header of tags is malformed. */
export function attributionOf(call: AttributedCall): Attribution | WireProblem | null {
  const { accountId, mode, headers } = call;
  const header = headers[tagsHeader];
  const own = header === undefined ? [] : parseTags(String(header));
  if (typeof own === 'string') return { message: `${tagsHeader}: ${own}`, param: tagsHeader, code: null };
  if (mode === 'off') return null;
  const named = namedBy(call);
  const digest = mode === 'plain' ? null : call.digest;
  const idOf = (kind: 'session' | 'user', id: string | null): string | null =>
    id === null || digest === null ? id : digestedId(digest, accountId, kind, id);
  const attribution: Attribution = {
    session: idOf('session', named.session),
    user: idOf('user', named.user),
    // Tags of our header are labels that the customer chose to add up by. Metadata was written for others, and may name people.
    tags: firstTags([...own, ...named.tags]).map((tag) =>
      storedTag(mode === 'tags' && own.includes(tag) ? null : digest, accountId, tag),
    ),
  };
  return isEmpty(attribution) ? null : attribution;
}

function namedBy(call: AttributedCall): Named {
  const { headers, protocol } = call;
  const named: Named = { session: sessionOf(headers), user: null, tags: [] };
  if (protocol === 'messages') addMessagesMetadata(named, valueOf(call, 'metadata'));
  else addOpenaiMembers(named, call);
  // A body of OpenRouter's clients has it on every address.
  named.session ??= attributionId(valueOf(call, 'session_id'));
  return named;
}

function sessionOf(headers: IncomingHttpHeaders): string | null {
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (value === undefined) continue;
    const id = attributionId(value);
    if (id !== null) return id;
  }
  return null;
}

/** The value of a short member of the body; undefined where there is none. */
function valueOf({ raw, members }: AttributedCall, name: string): unknown {
  const span: MemberSpan | undefined = members.get(name);
  if (span === undefined || span.end - span.start > maxMemberBytes) return undefined;
  return JSON.parse(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8', span.start, span.end));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * `metadata.user_id` of messages (https://platform.claude.com/docs/en/api/messages). Claude Code puts a device, an account and a
 * session into it: as text until 2.1.77, as JSON since (https://github.com/coder/aibridge/pull/241).
 */
function addMessagesMetadata(named: Named, metadata: unknown): void {
  const userId = isObject(metadata) ? metadata['user_id'] : undefined;
  if (typeof userId !== 'string' || userId.length > 1_024) return;
  const parts = partsOf(userId);
  if (parts === null) {
    named.user ??= attributionId(userId);
    return;
  }
  named.user ??= attributionId(parts.account) ?? attributionId(parts.device);
  named.session ??= attributionId(parts.session);
}

interface AgentUser {
  device: unknown;
  account: unknown;
  session: unknown;
}

function partsOf(userId: string): AgentUser | null {
  const text = /^user_([0-9a-f]+)_account_([0-9a-f-]*)_session_([0-9a-f-]+)$/i.exec(userId);
  if (text !== null) return { device: text[1], account: text[2], session: text[3] };
  if (!userId.startsWith('{')) return null;
  try {
    const { device_id: device, account_uuid: account, session_id: session } = JSON.parse(userId);
    return { device, account, session };
  } catch {
    return null;
  }
}

/**
 * `user`, `safety_identifier` and `metadata` of OpenAI's addresses (https://platform.openai.com/docs/api-reference/chat/create).
 * Qwen Code's metadata names its session `sessionId` (https://github.com/QwenLM/qwen-code/issues/9101), LiteLLM's
 * `session_id` (https://docs.litellm.ai/docs/proxy/ui_logs_sessions).
 */
function addOpenaiMembers(named: Named, call: AttributedCall): void {
  named.user ??= attributionId(valueOf(call, 'safety_identifier')) ?? attributionId(valueOf(call, 'user'));
  const metadata = valueOf(call, 'metadata');
  if (isObject(metadata)) {
    for (const [name, value] of Object.entries(metadata)) {
      if (name === 'session_id' || name === 'sessionId') named.session ??= attributionId(value);
      else if (name === 'user_id' || name === 'userId') named.user ??= attributionId(value);
      else {
        const tag = attributionTag(name, value);
        if (tag !== null) named.tags.push(tag);
      }
    }
  }
  const cacheKey = named.session === null ? valueOf(call, 'prompt_cache_key') : undefined;
  if (typeof cacheKey === 'string' && uuid.test(cacheKey)) named.session = cacheKey;
}
