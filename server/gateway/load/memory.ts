import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Watches the memory of this process, so that load is shed before the system or V8 kills it. */
export interface MemoryWatch {
  /** New work is refused until memory is free again. */
  readonly scarce: boolean;
  close(): void;
}

export interface MemoryReading {
  rssBytes: number;
  /** Heap in use, as a share of V8's limit. */
  heapShare: number;
}

/** Above it a full garbage collection may not free enough in time; V8 aborts at 1. */
const maxHeapShare = 0.9;
/** The rest is for the system, its caches and a database on the same machine. */
const usableShare = 0.8;

/** Memory limit of one of `processes` processes, by the machine or the container's limit. */
export function defaultMaxRssBytes(processes: number): number {
  const limit = process.constrainedMemory();
  // Without a limit Node returns 0 or a number larger than any machine's memory.
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return (available * usableShare) / processes;
}

let latestRssBytes = 0;

function readMemory(): MemoryReading {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  try {
    // It opens a file, for which there may be no descriptor left.
    latestRssBytes = process.memoryUsage.rss();
  } catch {
    // The last reading stands.
  }
  return { rssBytes: latestRssBytes, heapShare: used / limit };
}

export function watchMemory({
  maxRssBytes,
  intervalMs = 250,
  read = readMemory,
}: {
  maxRssBytes: number;
  intervalMs?: number;
  read?: () => MemoryReading;
}): MemoryWatch {
  const isScarce = (): boolean => {
    const { rssBytes, heapShare } = read();
    return rssBytes > maxRssBytes || heapShare > maxHeapShare;
  };
  let scarce = isScarce();
  const timer = setInterval(() => {
    scarce = isScarce();
  }, intervalMs);
  timer.unref();
  return {
    get scarce() {
      return scarce;
    },
    close: () => clearInterval(timer),
  };
}
