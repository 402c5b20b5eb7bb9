import { type Protocol, upstreamPaths } from '../../core/protocol.ts';
import type { FieldRule } from '../members.ts';
import { countArrived, type ReplyProtocol } from '../native.ts';
import {
  type RequestFacts,
  UnreadableReply,
  type Wire,
  type WireContext,
  type WireExchange,
  type WireProblem,
  type WireReply,
  type WireRequest,
} from '../protocol.ts';
import { reportedAs } from '../usage.ts';
import {
  type AnswerSink,
  countedUsage,
  finishOf,
  isWithoutArguments,
  namedCalls,
  type StreamReader,
  type StreamWriter,
  type ToolCall,
  type WholeAnswer,
} from './answers/answer.ts';
import { TranslatedStream } from './answers/stream.ts';
import { boundArguments, boundBody, boundReply, boundReplyArguments } from './bounds.ts';
import type { WriterInput } from './context.ts';
import type { Dialogue } from './dialogue.ts';
import { translateError } from './errors.ts';
import { encodeJson, isObject, type Json, type JsonObject, parseAnswerBytes, parseJsonBytes } from './json.ts';
import { type AnswerContext, idStem, type Notes } from './notes.ts';
import { refuse, Untranslatable } from './refusal.ts';
import { createDistinctIds } from './tool-ids.ts';
import { mapToolNames, NAME_LIMIT } from './tool-names.ts';
import { fitToVendor } from './vendor-limits.ts';
import { offeredOptionalTools } from './vendor-tools.ts';

/** The wire for a client and an upstream that speak different protocols, from what each of the two can do. */

/** Answers with more bytes weigh too much to be translated, whatever they hold. */
const maxReplyBytes = 8 * 1_048_576;

/** What a protocol can do where the client speaks it. */
export interface ClientSide {
  fields: Readonly<Record<string, FieldRule>>;
  readRequest(body: JsonObject, facts: RequestFacts, upstream: Protocol): Dialogue;
  /** What the answer repeats of the request. */
  echo?(body: JsonObject): JsonObject;
  writeAnswer(answer: WholeAnswer, context: AnswerContext): Record<string, unknown>;
  createStreamWriter(context: AnswerContext): StreamWriter;
}

/** Names a call that its vendor left without an id, by its place among the answer's calls. */
type MintId = (ordinal: number) => string;

/** What a protocol can do where the upstream speaks it. */
export interface UpstreamSide {
  /** What an answer consists of, to count one whose end never came. */
  reply: ReplyProtocol;
  writeRequest(input: WriterInput): Record<string, unknown>;
  readAnswer(body: Json, mintId: MintId): WholeAnswer;
  createStreamReader(sink: AnswerSink, mintId: MintId): StreamReader;
}

interface Pair {
  client: Protocol;
  upstream: Protocol;
  clientSide: ClientSide;
  upstreamSide: UpstreamSide;
}

export function translatingWire(pair: Pair): Wire {
  const { client, upstream } = pair;
  return { client, upstream, request: (raw, facts, context) => translateRequest(pair, raw, facts, context) };
}

function translateRequest(pair: Pair, raw: Uint8Array, facts: RequestFacts, context: WireContext): WireRequest {
  const { upstream, clientSide, upstreamSide } = pair;
  try {
    const weight = boundBody(raw, facts);
    const body = parseJsonBytes(raw);
    if (!isObject(body)) return refused('The request body must be a JSON object.');
    const asked = clientSide.readRequest(body, facts, upstream);
    refuseEmptyForce(asked);
    const dialogue = fitToVendor(asked, upstream, context);
    if (upstream === 'messages') boundArguments(dialogue, weight);
    const notes = takeNotes(pair, body, asked, context);
    const translated = encodeJson(upstreamSide.writeRequest({ dialogue, facts, context }));
    return { ok: true, exchange: translatedExchange(pair, translated, { facts, context, notes }) };
  } catch (problem) {
    if (problem instanceof Untranslatable) return { ok: false, problem: problem.problem };
    if (problem instanceof SyntaxError) return refused('The request body is not valid JSON.');
    if (problem instanceof RangeError) return refused('The request body is nested too deeply.');
    throw problem;
  }
}

function takeNotes(
  { upstream, clientSide }: Pair,
  body: JsonObject,
  { tools, showReasoning }: Dialogue,
  context: WireContext,
): Notes {
  return {
    tools: mapToolNames(tools, NAME_LIMIT[upstream]),
    hideReasoning: showReasoning === false && !context.features.reasoningHistory,
    echo: clientSide.echo?.(body) ?? {},
    droppedTools: offeredOptionalTools(body),
  };
}

/** A function of its own, so that an exchange keeps nothing of the request in memory but its notes. */
function translatedExchange(pair: Pair, body: Uint8Array, answer: AnswerContext): WireExchange {
  const { client, upstream, clientSide, upstreamSide } = pair;
  const { context, notes } = answer;
  return {
    client,
    upstream,
    body,
    path: upstreamPaths[upstream],
    droppedTools: notes.droppedTools,
    maxReplyBytes,
    reply: (bytes) => writeReply(pair, readReply(pair, bytes, answer), answer),
    async replyInPieces(pieces, pause) {
      await pause();
      const read = readReply(pair, Buffer.concat(pieces), answer);
      await pause();
      const { body: translated, account } = writeReply(pair, read, answer);
      return { pieces: [translated], account };
    },
    countArrived: (pieces, pause) => countArrived(pair.upstreamSide.reply, pieces, pause, answer),
    stream: () =>
      new TranslatedStream({
        client,
        facts: answer.facts,
        context,
        createReader: (sink) => upstreamSide.createStreamReader(sink, minter(context)),
        writer: clientSide.createStreamWriter(answer),
        restoreCall: (call) => restoreCall(call, notes),
      }),
    error: (status, bytes) =>
      translateError(client, status, bytes, { requestId: context.requestId, sent: answer.facts.members }),
  };
}

function readReply({ client, upstreamSide }: Pair, bytes: Uint8Array, { context }: AnswerContext): WholeAnswer {
  const weight = boundReply(bytes);
  const answer = readAnswer(upstreamSide, bytes, context);
  if (client === 'messages') boundReplyArguments(answer.blocks, weight);
  return answer;
}

function writeReply({ clientSide }: Pair, answer: WholeAnswer, prepared: AnswerContext): WireReply {
  const named = namedCalls(answer.blocks);
  if (named === null) throw new UnreadableReply('The model called a tool without naming it.');
  const isCalling = named.some(({ kind }) => kind === 'call');
  const finish = answer.finish.kind === 'calls' && !isCalling ? finishOf('stop') : answer.finish;
  const distinct = createDistinctIds();
  const blocks = named.map((block) =>
    block.kind === 'call'
      ? completeCall({ ...block, ...restoreCall(block, prepared.notes), id: distinct(block.id) })
      : block,
  );
  const pieces = answer.blocks.map((block) => (block.kind === 'call' ? block.arguments : block.text)).filter(Boolean);
  return {
    body: encodeJson(clientSide.writeAnswer({ ...answer, blocks, finish }, prepared)),
    account: {
      ...reportedAs(answer.usage.reading, prepared.facts.cacheWrite),
      outputBytes: pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
      outputPieces: pieces.length,
      model: answer.model,
      finish: answer.finish.kind,
    },
  };
}

/** A call without arguments has empty ones: every client parses them. Free text may be empty. */
function completeCall(call: ToolCall & { arguments: string }): ToolCall & { arguments: string } {
  return isWithoutArguments(call, call.arguments) ? { ...call, arguments: '{}' } : call;
}

function readAnswer({ readAnswer: read }: UpstreamSide, bytes: Uint8Array, context: WireContext): WholeAnswer {
  try {
    const answer = read(parseAnswerBytes(bytes), minter(context));
    return { ...answer, usage: countedUsage(answer.usage, context) };
  } catch (problem) {
    if (problem instanceof SyntaxError || problem instanceof RangeError) {
      throw new UnreadableReply('The upstream answered with something that is not JSON.');
    }
    throw problem;
  }
}

/** A call is demanded and no tool is left that could be called: an answer without one would pass for obedience. */
function refuseEmptyForce({ toolChoice, tools }: Dialogue): void {
  if (tools.length > 0 || (toolChoice?.kind !== 'any' && toolChoice?.kind !== 'tool')) return;
  refuse(toolChoice.at, 'demands a call, and none of the tools can be given to this model');
}

function refused(message: string): { ok: false; problem: WireProblem } {
  return { ok: false, problem: { message, param: null, code: null } };
}

function minter(context: WireContext): MintId {
  return (ordinal) => `call_${idStem(context)}_${ordinal}`;
}

/** Puts the client's own name for the tool back in. */
function restoreCall(call: ToolCall, notes: Notes): ToolCall {
  const tool = notes.tools.get(call.name);
  if (tool === undefined) return call;
  const { name, namespace, freeText } = tool;
  return { ...call, name, wrapped: freeText, ...(namespace === null ? {} : { namespace }) };
}
