import type { ReasoningEffort } from '../core/effort.ts';
import type { UpstreamFeatures } from '../core/features.ts';
import type { Protocol } from '../core/protocol.ts';
import type { RequestMeasure, ToolImageAsk } from '../core/request.ts';
import type { ReportedUsage, TokenPools } from '../core/tokens.ts';

/**
 * What the gateway needs to know about a wire protocol, and nothing about networks, money or clocks.
 *
 * A request travels as bytes. For every pair (protocol the client speaks, protocol the route's upstream speaks)
 * there is one `Wire`: where both are the same it hands bytes through, otherwise it translates. A request over a
 * route is one `WireExchange`, which the relay drives without knowing which of the two it has.
 */

/** Why a request cannot be served as it was sent. `param` names the offending field where there is one. */
export interface WireProblem {
  message: string;
  /** Path of the field at fault, as `spellMember` writes it; null when the body as a whole is at fault. */
  param: string | null;
  /** Machine-readable code inside the envelope, e.g. `unsupported_parameter`; null for the protocol's default. */
  code: string | null;
  /** HTTP status: 400 unless the protocol wants another one (501 for `not_supported`). */
  status?: number;
  /** Extra members for the error object, e.g. `details` for the `thread` refusal. */
  details?: Record<string, unknown>;
}

/** Byte offsets [start, end) into the raw request body. */
export interface Span {
  start: number;
  end: number;
}

/** One replacement within a body; `start === end` inserts. */
export interface Edit extends Span {
  text: string;
}

/** A member: the span of its value, and where the opening quote of its key stands. */
export interface MemberSpan extends Span {
  keyStart: number;
}

/** What one scan of the raw body tells; everything that decides routing, gates and the ceiling. */
export interface RequestFacts extends RequestMeasure {
  protocol: Protocol;
  /** The `model` string exactly as sent (JSON escapes decoded). */
  model: string;
  /** Where the value of `model` stands, quotes included: the only bytes the native path replaces. */
  modelSpan: Span;
  stream: boolean;
  /** Chat completions only: the client asked for the usage chunk. */
  includeUsage: boolean;
  /** Spans of every top-level member's value by its name. */
  members: ReadonlyMap<string, MemberSpan>;
  /** Top-level members and types of content parts that stand in no table of the protocol; the first few of each. */
  unknownMembers: readonly string[];
  /** Named gates this body touches (tenant and price gates): field or tool names a catalog entry may allow. */
  gates: readonly Gate[];
  /** Tools that run at the vendor, each as often as it stands in the request. */
  hostedTools: readonly HostedToolUse[];
  /** Responses only: how often they may be used all together; null: it does not say. */
  allToolUses: number | null;
  /** A tool of the vendor looks for tools: free in itself, and the model may run again with what it found. */
  searchesTools: boolean;
  /** Responses only: `asked`: the conversation is to be compacted; `carried`: it was once. */
  compaction: 'asked' | 'carried' | null;
  /** Bytes of the longest id of a tool call. */
  longestCallId: number;
  /** Responses only: it has reasoning without its content, which a vendor would look up under its id. */
  danglingReasoning: boolean;
}

/**
 * A field that may not pass unless the catalog entry allows it: it could reach another customer's state at the
 * shared vendor account (`tenant`), or it costs what the catalog has no price for (`price`).
 */
export interface Gate {
  kind: 'tenant' | 'price';
  /** What `allow` in the catalog names, e.g. `fallbacks`, `container`, `web_search`. */
  name: string;
  problem: WireProblem;
  /** Translation to another protocol leaves the field out, and so does a native route without the permission where it can. */
  translationDrops?: true;
  /** How many tools of the request have this gate; absent: it is none of a tool. */
  places?: number;
  /** The word by which prices may have a variant for it (`core/price-variants.ts`); absent: no price can open it. */
  variant?: string;
}

/** A tool of a request that runs at the vendor. */
export interface HostedToolUse {
  /** Without its version, as its gate is called. */
  name: string;
  /** How often it may be used; null: it does not say. */
  uses: number | null;
  /** The model may run programs at the vendor to filter what the tool brings. */
  runsPrograms: boolean;
  /** Responses only: what it asks of images; left out: it makes none. */
  image?: ToolImageAsk;
}

/** Tools that a native request goes without: their types as the client wrote them, and the edits that take them out. */
export interface LeftOut {
  types: readonly string[];
  edits: readonly Edit[];
}

export type Scan = { ok: true; facts: RequestFacts } | { ok: false; problem: WireProblem };

/** What a `Wire` may use besides the bytes; everything that a pure function cannot know. */
export interface WireContext {
  /** The id the customer sees. */
  catalogModel: string;
  /** The id the upstream knows. */
  upstreamModel: string;
  /** The model's own cap on output tokens. */
  maxOutputTokens: number;
  features: UpstreamFeatures;
  /** The efforts that the model knows; empty when the catalog lists none. Translation asks for no other. */
  efforts: readonly ReasoningEffort[];
  /** Keyed digest (HMAC) for user ids and minted signatures; `scope` keeps the uses apart. */
  digest(scope: string, text: string): string;
  /** Unix seconds for synthesised `created` fields. */
  createdAt: number;
  /** The gateway's request id; synthesised ids derive from it. */
  requestId: string;
  /** Where people see whether a model is up; named in errors that the gateway words. */
  statusUrl: string;
  /** Characters that an id of a tool call may have there; null: any; absent: what is usual in the upstream's protocol. */
  callIdMax?: number | null;
  /** What a native request goes without; translations leave it out anyway. */
  leftOut?: LeftOut;
  /** Error events of chat completions are chunks with a number as `code`: all that OpenRouter's library reads. */
  errorsInChunks?: boolean;
}

/** A request in the words of one route's upstream, or the reason why that upstream has no words for it. */
export type WireRequest = { ok: true; exchange: WireExchange } | { ok: false; problem: WireProblem };

/** One whole (not streamed) answer, ready for the client. */
export interface WireReply {
  body: Uint8Array;
  account: ReportedUsage;
}

/** As `WireReply`, for an answer that came in pieces. */
export interface WirePieces {
  pieces: Uint8Array[];
  account: ReportedUsage;
}

/** Where a stream stands in its protocol. */
export type StreamState =
  /** Nothing that a client could act on has come yet: failover is still possible. */
  | 'waiting'
  | 'open'
  /** The finish reason was seen, the terminator was not. */
  | 'finished'
  /** The protocol's own terminator was relayed: nothing may follow. */
  | 'terminated'
  /** An error event was relayed: nothing may follow. */
  | 'failed';

/** Why the gateway itself ends a stream. */
export type StreamEnd =
  /**
   * The upstream went away, stalled or sent nonsense: an error event (or, when finished, the missing terminator).
   * `type` is in the words of messages; the other protocols take theirs from the status. `code` is sent where the protocol
   * has a place for codes of ours.
   */
  | { reason: 'upstream'; status: number; type: string; code?: string | null; message: string }
  /**
   * The budget does not reach further: the protocol's "token limit" ending. `usage` is what will be charged and is
   * told to the client; without it the running account is.
   */
  | { reason: 'budget'; usage?: TokenPools };

/** An error event that the upstream sent inside a stream. */
export interface StreamError {
  status: number;
  type: string;
  /** Of the vendor's error where it has one, and of an error that the gateway itself words. */
  code?: string | null;
  message: string;
}

/**
 * Relays one stream: upstream bytes in, client bytes out, counting beside it.
 * Chunks may be split anywhere, also inside a UTF-8 character or a line.
 */
export interface WireStream {
  readonly state: StreamState;
  /** The upstream's error event, once seen. In state `waiting` nothing of it has been handed out. */
  readonly error: StreamError | null;
  /**
   * Takes the next upstream bytes; returns what to send to the client now (may be empty; may be the very chunk).
   * Events are handed out whole, so that anything the gateway inserts lands between two events.
   */
  write(chunk: Uint8Array): Uint8Array;
  /** The upstream's end of stream. Returns leftover bytes; a missing terminator shows in `state`. */
  end(): Uint8Array;
  /** Ends the stream from our side, in the protocol's own words. Call at most once, then send nothing more. */
  stop(end: StreamEnd): Uint8Array;
  /** Running account, cheap to call at any time. */
  account(): ReportedUsage;
  /**
   * How much has come since the last piece of content: events without any (comments, blank lines, pings, what cannot be read),
   * and one more for each KB of them.
   */
  readonly noise: number;
  /**
   * What to send in silence. Events are handed out whole, so that it breaks none; in the middle of one that is too
   * big to be held back it is empty. Ask for it each time.
   */
  readonly keepAlive: Uint8Array;
}

/** An upstream's error answer, rewritten for the client's protocol. */
export interface WireError {
  status: number;
  body: Uint8Array;
  contentType: string;
}

/** Some events of a whole answer, which are relayed together. */
export interface WholePiece {
  bytes: Uint8Array;
  /** Length of the content in it, in the unit of all pieces of the answer. */
  weight: number;
}

/** One pair of protocols. */
export interface Wire {
  client: Protocol;
  upstream: Protocol;
  /** `facts` must come from a scan of `raw`. */
  request(raw: Uint8Array, facts: RequestFacts, context: WireContext): WireRequest;
}

/** One request over one route: what the upstream is sent, and how its answer reads in the client's protocol. */
export interface WireExchange {
  readonly client: Protocol;
  readonly upstream: Protocol;
  /**
   * What the upstream is sent: natively the client's bytes themselves where nothing is edited. The exchange does not need
   * it afterwards: its owner may put nothing in its place to free the memory.
   */
  body: Uint8Array;
  /** Of the body; left out: JSON. */
  readonly contentType?: string;
  /** What follows the upstream's base address. */
  readonly path: string;
  /** Types of the vendor's tools that the request offers and that translation left out; empty natively. */
  readonly droppedTools: readonly string[];
  /** Throws `UnreadableReply` when a 2xx body is not what the protocol promises. */
  reply(body: Uint8Array): WireReply;
  /** The largest whole answer that this exchange takes. */
  readonly maxReplyBytes: number;
  /**
   * As `reply`, for a large answer. Natively nothing is joined, and `pause` is awaited every few megabytes; a translation
   * is one piece of work.
   */
  replyInPieces(pieces: readonly Uint8Array[], pause: () => Promise<void>): Promise<WirePieces>;
  /** What can be counted of the beginning of an answer that was too large. */
  countArrived(pieces: readonly Uint8Array[], pause: () => Promise<void>): Promise<ReportedUsage>;
  stream(): WireStream;
  /** The events in which a whole answer would have come, where they are none of the protocol's; null: it is none. */
  eventsOfWhole?(body: Uint8Array): WholePiece[] | null;
  /** What an upstream's refusal of the request says that it costs all the same; left out: it costs nothing. */
  billed?(body: Uint8Array): ReportedUsage | null;
  /**
   * An upstream 400/413/422 on its way to the client; native: byte for byte, less identifiers of the operator's
   * account, and with our request id in place of the vendor's. Null when the body is not a readable error.
   */
  error(status: number, body: Uint8Array): WireError | null;
}

/** A 2xx answer whose body the protocol does not allow; becomes a 502. */
export class UnreadableReply extends Error {
  override name = 'UnreadableReply';
}
