import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Watches the memory of this process, so that load is shed before the system or V8 ends it. */
export interface MemoryWatch {
  /** New work is refused until memory is free again. */
  readonly scarce: boolean;
  close(): void;
}

export interface MemoryReading {
  rssBytes: number;
  /** Share of what the heap may grow to. */
  heapShare: number;
}

/** Above it a full collection may not free enough in time; V8 ends the process at 1. */
const maxHeapShare = 0.9;
/** The rest is for the system, its caches and the database that may run beside. */
const usableShare = 0.8;

/** What one of so many processes may use of the machine, or of the container's limit. */
export function defaultMaxRssBytes(processes: number): number {
  const limit = process.constrainedMemory();
  // Without a limit Node says 0 or a number beyond every machine.
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return (available * usableShare) / processes;
}

function readMemory(): MemoryReading {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return { rssBytes: process.memoryUsage.rss(), heapShare: used / limit };
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
