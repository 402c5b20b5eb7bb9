import type { AnswerSink } from '../dialogue/answers/answer.ts';
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

/** Puts the pieces of a streamed chat completion's tool calls together. */
export class StreamedCalls {
  private readonly sink: AnswerSink;
  /** Names calls that the vendor left without an id. */
  private readonly mintId: (ordinal: number) => string;
  private readonly calls: CallState[] = [];
  private readonly byIndex = new Map<number, CallState>();
  /** Of several calls with one id, the first. */
  private readonly byId = new Map<string, CallState>();
  /** Calls that were handed on. */
  begun = 0;
  /** Calls with arguments and no name so far. */
  nameless = 0;

  constructor(sink: AnswerSink, mintId: (ordinal: number) => string) {
    this.sink = sink;
    this.mintId = mintId;
  }

  /** Takes one piece of a call, from `tool_calls` or the older `function_call`. */
  read(delta: JsonObject): void {
    const described = objectMember(delta, 'function') ?? {};
    const id = stringMember(delta, 'id') || null;
    const name = stringMember(described, 'name') || null;
    const text = readArguments(described.arguments);
    // One vendor sends an empty call of the old form with all its text.
    if (id === null && name === null && text === '') return;
    const call = this.findCall(delta.index, id, name);
    if (id !== null) this.setId(call, id);
    if (call.begun) return this.sink.callArguments(call.key, text);
    if (call.early === '' && text !== '') this.nameless += 1;
    call.early += text;
    if (name === null) return;
    call.begun = true;
    this.begun += 1;
    if (call.early !== '') this.nameless -= 1;
    const named = this.setId(call, call.id ?? this.mintId(call.ordinal));
    this.sink.call(call.key, { kind: 'call', id: named, name, custom: false, wrapped: false });
    if (call.early !== '') this.sink.callArguments(call.key, call.early);
    call.early = '';
  }

  /** By index, else by id, else the last one. Some vendors give every call the index 0: another id is another call. */
  private findCall(index: Json | undefined, id: string | null, name: string | null): CallState {
    if (typeof index === 'number') {
      const known = this.byIndex.get(index);
      const another = id !== null && name !== null && known !== undefined && known.id !== null && known.id !== id;
      if (known !== undefined && !another) return known;
      const call = this.addCall(id);
      this.byIndex.set(index, call);
      return call;
    }
    if (id !== null) return this.byId.get(id) ?? this.addCall(id);
    return (name === null ? this.calls.at(-1) : undefined) ?? this.addCall(id);
  }

  private addCall(id: string | null): CallState {
    const ordinal = this.calls.length;
    const call: CallState = { ordinal, key: String(ordinal), id: null, begun: false, early: '' };
    this.calls.push(call);
    if (id !== null) this.setId(call, id);
    return call;
  }

  /** The first id that a call is given stays. */
  private setId(call: CallState, id: string): string {
    call.id ??= id;
    const known = this.byId.get(call.id);
    if (known === undefined || call.ordinal < known.ordinal) this.byId.set(call.id, call);
    return call.id;
  }
}

/** Arguments are text; a few vendors send them as the object itself. */
export function readArguments(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : stringifyJson(value);
}
