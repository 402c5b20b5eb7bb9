import type { BlockSink, TextKind, ToolCall } from './answer.ts';
import { JsonProgress } from './json-progress.ts';

/**
 * Puts the pieces of an answer into blocks that never overlap. Chat completions upstreams may interleave the
 * arguments of parallel calls; the other protocols show one block after the other. A call is left for the next
 * block only when its arguments are complete; until then everything later waits here. Nothing is ever lost or
 * reordered within a block.
 */
export interface BlockOrder {
  text(kind: TextKind, text: string): void;
  call(key: string, call: ToolCall): void;
  /** False when the call's block is closed already: its arguments had looked complete and were not. */
  callArguments(key: string, text: string): boolean;
  callEnd(key: string): void;
  /** Hands out everything that waits and closes the last block. */
  flush(): void;
}

interface Pending {
  block: { kind: TextKind } | ToolCall;
  waiting: string;
  progress: JsonProgress | null;
  ended: boolean;
  closed: boolean;
}

export function createBlockOrder(sink: BlockSink): BlockOrder {
  const calls = new Map<string, Pending>();
  let queue: Pending[] = [];
  /** Where in `queue` the next block waits: taking it off the front would move all the others. */
  let next = 0;
  let open: Pending | null = null;

  function add(pending: Pending): void {
    queue.push(pending);
    advance();
  }

  /** Opens what waits, as far as blocks may be closed. */
  function advance(): void {
    while (next < queue.length && (open === null || open.ended || open.progress === null || open.progress.complete)) {
      openNext();
    }
  }

  function openNext(): void {
    const block = queue[next];
    if (block === undefined) return;
    next += 1;
    if (next === queue.length) {
      queue = [];
      next = 0;
    }
    close();
    open = block;
    sink.open(block.block);
    if (block.waiting !== '') sink.delta(block.waiting);
    block.waiting = '';
  }

  function close(): void {
    if (open === null) return;
    sink.close();
    open.closed = true;
    open = null;
  }

  return {
    text(kind, text) {
      if (text === '') return;
      const last = queue.at(-1);
      if (last === undefined && open?.block.kind === kind) sink.delta(text);
      else if (last?.block.kind === kind) last.waiting += text;
      else add({ block: { kind }, waiting: text, progress: null, ended: false, closed: false });
    },

    call(key, call) {
      const pending = { block: call, waiting: '', progress: new JsonProgress(), ended: false, closed: false };
      calls.set(key, pending);
      add(pending);
    },

    callArguments(key, text) {
      const pending = calls.get(key);
      if (pending === undefined || pending.closed) return text.trim() === '';
      pending.progress?.feed(text);
      if (pending !== open) pending.waiting += text;
      else {
        if (text !== '') sink.delta(text);
        advance();
      }
      return true;
    },

    callEnd(key) {
      const pending = calls.get(key);
      if (pending !== undefined) pending.ended = true;
      advance();
    },

    flush() {
      while (next < queue.length) openNext();
      close();
    },
  };
}
