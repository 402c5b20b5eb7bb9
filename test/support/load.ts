import { Agent, request } from 'node:http';
import type { Customer } from './app.ts';

/** A steady load of model requests from clients that repeat a failed connect and nothing else. */

export interface LoadResult {
  requestId: string | null;
  accountId: string;
  /** Null: no answer came. */
  status: number | null;
  /** What the client got is whole. */
  isWhole: boolean;
  /** Why it is not; the error's code and system call. */
  fault: string | null;
  /** Milliseconds since the load began. */
  beganAt: number;
  endedAt: number;
}

export interface LoadParts {
  /** Addresses of the processes, `http://host:port/api`: asked anew for each try, in turn. */
  targets: () => readonly string[];
  customers: readonly Customer[];
  perSecond: number;
  /** A model of the catalog that speaks chat completions. */
  model?: string;
}

export interface Load {
  readonly results: LoadResult[];
  /** Failed connects, which were repeated. */
  readonly repeated: number;
  /** How many requests run at one of the targets. */
  runningAt(target: string): number;
  /** Begins no further request, and resolves when the last one has ended. */
  stop(): Promise<LoadResult[]>;
}

/** Time for which connects are repeated. */
const maxConnectMs = 60_000;

export function startLoad({ targets, customers, perSecond, model = 'on-chat-completions' }: LoadParts): Load {
  const results: LoadResult[] = [];
  // First in, first out: each connection is used again soon.
  const kept = new Agent({ keepAlive: true, maxSockets: 16, scheduling: 'fifo' });
  const ofOneRequest = new Agent({ keepAlive: false });
  const startedAt = performance.now();
  let begun = 0;
  const running = new Set<Promise<void>>();
  const runningAt = new Map<string, number>();
  let repeated = 0;

  /** One try at one address. Rejects when the connect failed. */
  const attempt = (target: string, customer: Customer, isStream: boolean, agent: Agent): Promise<LoadResult> =>
    new Promise((resolve, reject) => {
      const result: LoadResult = {
        requestId: null,
        accountId: customer.accountId,
        status: null,
        isWhole: false,
        fault: null,
        beganAt: performance.now() - startedAt,
        endedAt: 0,
      };
      const end = (fault: string | null): void => {
        result.fault ??= fault;
        result.endedAt = performance.now() - startedAt;
        resolve(result);
      };
      const text = isStream ? '[[len 20]][[speed 60]]' : '[[len 5]]';
      const body = JSON.stringify({
        model,
        max_tokens: 100,
        stream: isStream,
        messages: [{ role: 'user', content: text }],
      });
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}` };
      const sent = request(`${target}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
        result.status = response.statusCode ?? null;
        result.requestId = String(response.headers['request-id']);
        let got = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          got += part;
        });
        response.on('error', (error: NodeJS.ErrnoException) => end(`${error.code} in the answer`));
        response.on('end', () => {
          result.isWhole = isStream ? got.includes('w19"') && got.includes('data: [DONE]') : isJson(got);
          end(result.status === 200 && result.isWhole ? null : got.slice(-300));
        });
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED' && error.syscall === 'connect') reject(error);
        else end(`${error.code} ${error.syscall ?? ''}${sent.reusedSocket ? ' on a kept connection' : ''}`);
      });
      sent.end(body);
    });

  const run = async (number: number): Promise<void> => {
    const customer = customers[number % customers.length];
    if (customer === undefined) throw new Error('a load needs customers');
    const beganAt = performance.now();
    for (let tries = 0; ; tries += 1) {
      const all = targets();
      const target = all[(number + tries) % Math.max(1, all.length)];
      try {
        if (target === undefined) throw new Error('no process is in use');
        runningAt.set(target, (runningAt.get(target) ?? 0) + 1);
        const agent = number % 3 === 0 ? ofOneRequest : kept;
        results.push(
          await attempt(target, customer, number % 4 === 0, agent).finally(() => {
            runningAt.set(target, (runningAt.get(target) ?? 0) - 1);
          }),
        );
        return;
      } catch (error) {
        if (performance.now() - beganAt > maxConnectMs) throw error;
        repeated += 1;
        await new Promise((resolve) => {
          setTimeout(resolve, 5);
        });
      }
    }
  };

  const clock = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
    for (; begun < due; begun += 1) {
      const one = run(begun).finally(() => running.delete(one));
      running.add(one);
      one.catch(() => undefined);
    }
  }, 10);

  return {
    results,
    get repeated() {
      return repeated;
    },
    runningAt: (target) => runningAt.get(target) ?? 0,
    async stop() {
      clearInterval(clock);
      await Promise.all(running);
      kept.destroy();
      return results;
    },
  };
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
