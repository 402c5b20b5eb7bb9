import { type ProbeProtocol, type ProbeResult, type ProbeTarget, probe, probeModes, probeProtocols } from './probe.ts';

/** One round of probes: every model, over every protocol, in both modes. */
export interface ProberOptions {
  /** The public API root, as customers write it. */
  baseUrl: string;
  /** A key of the probe account. */
  apiKey: string;
  models: readonly string[];
  protocols?: readonly ProbeProtocol[];
  timeoutMs?: number;
  signal?: AbortSignal;
  onResult?: (result: ProbeResult) => void;
}

const defaultTimeoutMs = 30_000;
/** Concurrent probes: enough to finish within a round, too few to be a load. */
const lanes = 4;

/** Probes everything once and returns the results, in the order of completion. Rejects when `signal` aborts it. */
export async function probeAll(options: ProberOptions): Promise<ProbeResult[]> {
  const {
    baseUrl,
    apiKey,
    models,
    protocols = probeProtocols,
    timeoutMs = defaultTimeoutMs,
    signal,
    onResult,
  } = options;
  const targets = models.flatMap((model) =>
    protocols.flatMap((protocol) => probeModes.map((mode): ProbeTarget => ({ model, protocol, mode }))),
  );
  const results: ProbeResult[] = [];
  const queue = targets.values();
  const lane = async () => {
    for (const target of queue) {
      signal?.throwIfAborted();
      const result = await probe({ baseUrl, apiKey, target, timeoutMs, ...(signal === undefined ? {} : { signal }) });
      results.push(result);
      onResult?.(result);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
