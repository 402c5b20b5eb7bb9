import { once } from 'node:events';

/** The heap of another process after a full collection, over its inspector: what is in use, and which objects it is made of. */

export interface LiveHeap {
  /** Megabytes in use after a full collection; `external`: buffers outside of V8's heap. */
  used(): Promise<{ heapMb: number; externalMb: number }>;
  /** Megabytes of live objects by the name of their constructor (`(string)` and the like for others). */
  byConstructor(): Promise<Map<string, number>>;
  close(): void;
}

interface Message {
  id?: number;
  method?: string;
  params?: { chunk?: string };
  result?: { result?: { value?: string } };
  error?: { message: string };
}

/** Connects to a process that was started with `--inspect=127.0.0.1:PORT`. */
export async function inspectHeap(port: number): Promise<LiveHeap> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  const waiting = new Map<number, (message: Message) => void>();
  let chunks: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.method === 'HeapProfiler.addHeapSnapshotChunk') chunks.push(message.params?.chunk ?? '');
    if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  let last = 0;
  const call = async (method: string, params: object = {}): Promise<Message['result']> => {
    last += 1;
    const answer = new Promise<Message>((resolve) => {
      waiting.set(last, resolve);
    });
    socket.send(JSON.stringify({ id: last, method, params }));
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };

  return {
    async used() {
      await call('HeapProfiler.collectGarbage');
      const expression = 'JSON.stringify(process.memoryUsage())';
      const answer = await call('Runtime.evaluate', { expression, returnByValue: true });
      const { heapUsed, external } = JSON.parse(answer?.result?.value ?? '{}') as NodeJS.MemoryUsage;
      return { heapMb: heapUsed / 2 ** 20, externalMb: external / 2 ** 20 };
    },
    async byConstructor() {
      chunks = [];
      await call('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
      const text = chunks.join('');
      chunks = [];
      return addUp(JSON.parse(text) as Snapshot);
    },
    close: () => socket.close(),
  };
}

/** V8's format of heap snapshots: nodes are rows of numbers, whose meanings `meta` names. */
interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[], ...unknown[]] } };
  nodes: number[];
  strings: string[];
}

function addUp({ snapshot, nodes, strings }: Snapshot): Map<string, number> {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field)) as [
    number,
    number,
    number,
  ];
  const sums = new Map<string, number>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = types[0][nodes[at + type] ?? 0] ?? '';
    const label = kind === 'object' || kind === 'native' ? (strings[nodes[at + name] ?? 0] ?? '') : `(${kind})`;
    sums.set(label, (sums.get(label) ?? 0) + (nodes[at + size] ?? 0) / 2 ** 20);
  }
  return sums;
}
