/** What a process says of its own memory, over Node's inspector. */

interface Profile {
  selfSize: number;
  children: Profile[];
}

export interface Inspector {
  /** Bytes of live objects and of the buffers behind them, after full collections. */
  liveBytes(): Promise<number>;
  /** Bytes that are allocated while `work` runs, those included that are collected meanwhile; by samples. */
  allocatedBytes(work: () => Promise<void>): Promise<number>;
  close(): void;
}

/** The environment with which a process can be inspected at a port. */
export const inspectedAt = (port: number): Record<string, string> => ({
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --inspect=127.0.0.1:${port}`,
});

const sampledEvery = 32_768;

export async function inspect(port: number): Promise<Inspector> {
  const list = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(list[0]?.webSocketDebuggerUrl ?? '');
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const waiting = new Map<number, (result: unknown) => void>();
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  const call = (method: string, params: object = {}): Promise<unknown> => {
    calls += 1;
    const id = calls;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  return {
    async liveBytes() {
      for (let turn = 0; turn < 2; turn += 1) await call('HeapProfiler.collectGarbage');
      const { usedSize, backingStorageSize } = (await call('Runtime.getHeapUsage')) as Record<string, number>;
      return (usedSize ?? 0) + (backingStorageSize ?? 0);
    },
    async allocatedBytes(work) {
      await call('HeapProfiler.startSampling', {
        samplingInterval: sampledEvery,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      });
      await work();
      const { profile } = (await call('HeapProfiler.stopSampling')) as { profile: { head: Profile } };
      return sum(profile.head);
    },
    close: () => socket.close(),
  };
}

function sum({ selfSize, children }: Profile): number {
  return children.reduce((bytes, child) => bytes + sum(child), selfSize);
}
