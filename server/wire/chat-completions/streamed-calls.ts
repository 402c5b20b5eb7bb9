import type { AnswerSink } from '../dialogue/answer.ts';
import { type Json, type JsonObject, objectMember, stringifyJson, stringMember } from '../dialogue/json.ts';

/** A call as far as its pieces have come. */
interface CallState {
  ordinal: number;
  key: string;
  id: string | null;
  /** The name is known, and the call has been handed on. */
  begun: boolean;
  /** Arguments that came before the name. */
  early: string;
}

/** The tool calls of a streamed chat completion. */
export interface StreamedCalls {
  /** Calls that were handed on. */
  readonly begun: number;
  /** Calls with arguments and no name so far. */
  readonly nameless: number;
  /** Takes one piece of a call, from `tool_calls` or the older `function_call`. */
  read(delta: JsonObject): void;
}

/** Puts the pieces of tool calls together. `mintId` names calls that the vendor left without an id. */
export function createStreamedCalls(sink: AnswerSink, mintId: (ordinal: number) => string): StreamedCalls {
  const calls: CallState[] = [];
  const byIndex = new Map<number, CallState>();
  /** Of several calls with one id, the first. */
  const byId = new Map<string, CallState>();
  let nameless = 0;
  let begun = 0;

  function read(delta: JsonObject): void {
    const described = objectMember(delta, 'function') ?? {};
    const id = stringMember(delta, 'id') || null;
    const name = stringMember(described, 'name') || null;
    const text = readArguments(described.arguments);
    // One vendor sends an empty call of the old form with all its text.
    if (id === null && name === null && text === '') return;
    const call = findCall(delta.index, id, name);
    if (id !== null) setId(call, id);
    if (call.begun) return sink.callArguments(call.key, text);
    if (call.early === '' && text !== '') nameless += 1;
    call.early += text;
    if (name === null) return;
    call.begun = true;
    begun += 1;
    if (call.early !== '') nameless -= 1;
    const named = setId(call, call.id ?? mintId(call.ordinal));
    sink.call(call.key, { kind: 'call', id: named, name, custom: false, wrapped: false });
    if (call.early !== '') sink.callArguments(call.key, call.early);
    call.early = '';
  }

  /** By index, else by id, else the last one. Some vendors give every call the index 0: another id is another call. */
  function findCall(index: Json | undefined, id: string | null, name: string | null): CallState {
    if (typeof index === 'number') {
      const known = byIndex.get(index);
      const another = id !== null && name !== null && known !== undefined && known.id !== null && known.id !== id;
      if (known !== undefined && !another) return known;
      const call = addCall(id);
      byIndex.set(index, call);
      return call;
    }
    if (id !== null) return byId.get(id) ?? addCall(id);
    return (name === null ? calls.at(-1) : undefined) ?? addCall(id);
  }

  function addCall(id: string | null): CallState {
    const ordinal = calls.length;
    const call: CallState = { ordinal, key: String(ordinal), id: null, begun: false, early: '' };
    calls.push(call);
    if (id !== null) setId(call, id);
    return call;
  }

  /** The first id that a call is given stays. */
  function setId(call: CallState, id: string): string {
    call.id ??= id;
    const known = byId.get(call.id);
    if (known === undefined || call.ordinal < known.ordinal) byId.set(call.id, call);
    return call.id;
  }

  return {
    get begun() {
      return begun;
    },
    get nameless() {
      return nameless;
    },
    read,
  };
}

/** Arguments are text; a few vendors send them as the object itself. */
export function readArguments(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : stringifyJson(value);
}
