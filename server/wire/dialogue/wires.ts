import { type Protocol, upstreamPaths } from '../../core/protocol.ts';
import { readChatAnswer } from '../chat-completions/answer-reader.ts';
import { writeChatAnswer } from '../chat-completions/answer-writer.ts';
import { chatFields, readChatRequest } from '../chat-completions/request-reader.ts';
import { writeChatRequest } from '../chat-completions/request-writer.ts';
import { createChatStreamReader } from '../chat-completions/stream-reader.ts';
import { createChatStreamWriter } from '../chat-completions/stream-writer.ts';
import { readMessagesAnswer } from '../messages/answer-reader.ts';
import { writeMessagesAnswer } from '../messages/answer-writer.ts';
import { messagesFields, readMessagesRequest } from '../messages/request-reader.ts';
import { writeMessagesRequest } from '../messages/request-writer.ts';
import { createMessagesStreamReader } from '../messages/stream-reader.ts';
import { createMessagesStreamWriter } from '../messages/stream-writer.ts';
import {
  type RequestFacts,
  UnreadableReply,
  type Wire,
  type WireContext,
  type WireReply,
  type WireRequest,
} from '../protocol.ts';
import { readResponsesAnswer } from '../responses/answer-reader.ts';
import { writeResponsesAnswer } from '../responses/answer-writer.ts';
import { freeTextTools, readResponsesRequest, responsesFields } from '../responses/request-reader.ts';
import { writeResponsesRequest } from '../responses/request-writer.ts';
import { echoRequest } from '../responses/response-object.ts';
import { createResponsesStreamReader } from '../responses/stream-reader.ts';
import { createResponsesStreamWriter } from '../responses/stream-writer.ts';
import type { Answer, AnswerSink, Call, StreamReader, StreamWriter } from './answer.ts';
import type { WriterInput } from './context.ts';
import type { Dialogue } from './dialogue.ts';
import { translateError } from './errors.ts';
import { encodeJson, isObject, type Json, type JsonObject, parseJsonBytes } from './json.ts';
import { type AnswerContext, idStem, NO_NOTES, type Notes } from './notes.ts';
import { type FieldRule, refuse, Untranslatable } from './refusal.ts';
import { createTranslatedStream } from './stream.ts';
import { createDistinctIds } from './tool-ids.ts';
import { mapToolNames, NAME_LIMIT } from './tool-names.ts';

/** What a protocol can do where the client speaks it. */
interface ClientSide {
  fields: Readonly<Record<string, FieldRule>>;
  readRequest(body: JsonObject, facts: RequestFacts, upstream: Protocol): Dialogue;
  writeAnswer(answer: Answer, context: AnswerContext): Record<string, unknown>;
  createStreamWriter(context: AnswerContext): StreamWriter;
}

/** Names a call that its vendor left without an id, by its place among the answer's calls. */
type MintId = (ordinal: number) => string;

/** What a protocol can do where the upstream speaks it. */
interface UpstreamSide {
  writeRequest(input: WriterInput): Record<string, unknown>;
  readAnswer(body: Json, mintId: MintId): Answer;
  createStreamReader(sink: AnswerSink, mintId: MintId): StreamReader;
}

const CLIENTS: Readonly<Record<Protocol, ClientSide>> = {
  messages: {
    fields: messagesFields,
    readRequest: readMessagesRequest,
    writeAnswer: writeMessagesAnswer,
    createStreamWriter: createMessagesStreamWriter,
  },
  'chat-completions': {
    fields: chatFields,
    readRequest: readChatRequest,
    writeAnswer: writeChatAnswer,
    createStreamWriter: createChatStreamWriter,
  },
  responses: {
    fields: responsesFields,
    readRequest: readResponsesRequest,
    writeAnswer: writeResponsesAnswer,
    createStreamWriter: createResponsesStreamWriter,
  },
};

const UPSTREAMS: Readonly<Record<Protocol, UpstreamSide>> = {
  messages: {
    writeRequest: writeMessagesRequest,
    readAnswer: readMessagesAnswer,
    createStreamReader: createMessagesStreamReader,
  },
  'chat-completions': {
    writeRequest: writeChatRequest,
    readAnswer: readChatAnswer,
    createStreamReader: createChatStreamReader,
  },
  responses: {
    writeRequest: writeResponsesRequest,
    readAnswer: readResponsesAnswer,
    createStreamReader: createResponsesStreamReader,
  },
};

/** Fields of a client's body by what translation makes of them, for the documentation; all others are refused. */
export interface TranslatedFields {
  /** What they say reaches the upstream, or is refused where the upstream has no words for it. */
  read: string[];
  /** Left out, because the answer does not depend on them. */
  dropped: string[];
  /** Left out where they ask for nothing special, else refused. */
  harmless: string[];
}

export function translatedFields(client: Protocol): TranslatedFields {
  const fields = Object.entries(CLIENTS[client].fields);
  const named = (isOne: (rule: FieldRule) => boolean): string[] =>
    fields.filter(([, rule]) => isOne(rule)).map(([name]) => name);
  return {
    read: named((rule) => rule === 'read'),
    dropped: named((rule) => rule === 'drop'),
    harmless: named((rule) => typeof rule === 'function'),
  };
}

/**
 * The wire for a client and an upstream that speak different protocols.
 *
 * `reply` and `stream` must be given the very `facts` object that `request` was given: what the answer needs to know
 * of the request (the client's own tool names, what a response repeats) is kept beside that object, not in it.
 */
export function translatingWire(client: Protocol, upstream: Protocol): Wire {
  const clientSide = CLIENTS[client];
  const upstreamSide = UPSTREAMS[upstream];
  const notesOf = new WeakMap<RequestFacts, Notes>();

  function request(raw: Uint8Array, facts: RequestFacts, context: WireContext): WireRequest {
    try {
      const body = parseJsonBytes(raw);
      if (!isObject(body)) return refused('The request body must be a JSON object.');
      const dialogue = clientSide.readRequest(body, facts, upstream);
      refuseEmptyForce(dialogue);
      notesOf.set(facts, takeNotes(body, dialogue, context));
      return {
        ok: true,
        body: encodeJson(upstreamSide.writeRequest({ dialogue, facts, context })),
        path: upstreamPaths[upstream],
      };
    } catch (problem) {
      if (problem instanceof Untranslatable) return { ok: false, problem: problem.problem };
      if (problem instanceof SyntaxError) return refused('The request body is not valid JSON.');
      if (problem instanceof RangeError) return refused('The request body is nested too deeply.');
      throw problem;
    }
  }

  function takeNotes(body: JsonObject, { tools, showReasoning }: Dialogue, context: WireContext): Notes {
    const free = client === 'responses' ? freeTextTools(body) : new Set<string>();
    const named = tools.map(({ name, at }) => ({ name, at, freeText: free.has(name) }));
    return {
      tools: mapToolNames(named, NAME_LIMIT[upstream]),
      hideReasoning: showReasoning === false && !context.features.reasoningHistory,
      echo: client === 'responses' ? echoRequest(body) : {},
    };
  }

  function answerContext(facts: RequestFacts, context: WireContext): AnswerContext {
    return { facts, context, notes: notesOf.get(facts) ?? NO_NOTES };
  }

  function reply(bytes: Uint8Array, facts: RequestFacts, context: WireContext): WireReply {
    const answer = readAnswer(bytes, context);
    const prepared = answerContext(facts, context);
    const distinct = createDistinctIds();
    const blocks = answer.blocks.map((block) =>
      block.kind === 'call' ? { ...block, ...restoreCall(block, prepared.notes), id: distinct(block.id) } : block,
    );
    const { reading } = answer.usage;
    const pieces = blocks.map((block) => (block.kind === 'call' ? block.arguments : block.text)).filter(Boolean);
    return {
      body: encodeJson(clientSide.writeAnswer({ ...answer, blocks }, prepared)),
      account: {
        usage: reading?.usage ?? null,
        clamped: reading?.clamped ?? false,
        partial: reading?.outputMissing ?? false,
        outputBytes: pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
        outputPieces: pieces.length,
        model: answer.model,
      },
    };
  }

  function readAnswer(bytes: Uint8Array, context: WireContext): Answer {
    try {
      return upstreamSide.readAnswer(parseJsonBytes(bytes), minter(context));
    } catch (problem) {
      if (problem instanceof SyntaxError || problem instanceof RangeError) {
        throw new UnreadableReply('The upstream answered with something that is not JSON.');
      }
      throw problem;
    }
  }

  return {
    client,
    upstream,
    request,
    reply,
    stream(facts, context) {
      const prepared = answerContext(facts, context);
      return createTranslatedStream({
        client,
        context,
        createReader: (sink) => upstreamSide.createStreamReader(sink, minter(context)),
        createWriter: () => clientSide.createStreamWriter(prepared),
        restoreCall: (call) => restoreCall(call, prepared.notes),
      });
    },
    error: (status, body, _contentType, requestId) => translateError(client, status, body, requestId),
  };
}

/** A call is demanded and no tool is left that could be called: an answer without one would pass for obedience. */
function refuseEmptyForce({ toolChoice, tools }: Dialogue): void {
  if (tools.length > 0 || (toolChoice?.kind !== 'any' && toolChoice?.kind !== 'tool')) return;
  refuse(toolChoice.at, 'demands a call, and none of the tools can be given to this model');
}

function refused(message: string): WireRequest {
  return { ok: false, problem: { message, param: null, code: null } };
}

function minter(context: WireContext): MintId {
  return (ordinal) => `call_${idStem(context)}_${ordinal}`;
}

/** Puts the client's own name for the tool back in. */
function restoreCall(call: Call, notes: Notes): Call {
  const tool = notes.tools.get(call.name);
  return tool === undefined ? call : { ...call, name: tool.name, wrapped: tool.freeText };
}
