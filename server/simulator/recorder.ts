/** One request exactly as it arrived. */
export interface RecordedRequest {
  method: string;
  /** Path and query as sent. */
  path: string;
  /** In order, with their spelling. */
  headers: [name: string, value: string][];
  body: Buffer;
  /** False when the client left, or was answered, before it had sent all of the body. */
  complete: boolean;
}

export interface Recorder {
  add(request: RecordedRequest): void;
  /** Oldest first. */
  list(): RecordedRequest[];
  clear(): void;
}

/** Bodies of coding agents are megabytes: memory is bounded in bytes as well as in number. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Keeps the last `limit` requests in memory, and only there. */
export function createRecorder({ limit }: { limit: number }): Recorder {
  let kept: RecordedRequest[] = [];
  let bytes = 0;
  return {
    add(request) {
      kept.push(request);
      bytes += request.body.length;
      while (kept.length > limit || (bytes > MAX_BYTES && kept.length > 1)) bytes -= kept.shift()?.body.length ?? 0;
    },
    list: () => [...kept],
    clear() {
      kept = [];
      bytes = 0;
    },
  };
}

/** Header pairs from Node's flat list. */
export function headerPairs(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  }
  return pairs;
}
