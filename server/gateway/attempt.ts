import type { IncomingHttpHeaders } from 'node:http';
import type { ReportedUsage, TokenPools } from '../core/tokens.ts';
import type { Brake } from '../metering/brake.ts';
import type { GatewayTimeouts } from '../runtime/config.ts';
import type { StreamEnd, StreamError, WireStream } from '../wire/protocol.ts';
import type { Client } from './client.ts';
import { type DispatchFault, type DispatchRequest, dispatch, type Exchange } from './dispatch.ts';
import type { Pulse } from './pulse.ts';
import type { Refusal, Refusals } from './refusals.ts';
import { bytesWithoutSecret, textWithoutSecret } from './secret.ts';

/**
 * One try at one upstream: bytes are handed through while they are counted, until one of the two sides is done.
 * Nothing is settled and no refusal is written here; the result says what happened and the relay decides.
 */

/** How a stream that relayed content came to its end. */
export type StreamEnding =
  | 'completed'
  | 'budget_stopped'
  | 'client_closed'
  | 'upstream_error'
  | 'upstream_cut'
  | 'timeout'
  | 'shutdown';

export type AttemptEnd =
  /** A whole 2xx answer. `clientLeft`: it was drained for its account only. `taken`: as in `Exchange`. */
  | { kind: 'whole'; body: Buffer; clientLeft: boolean; taken: boolean }
  /** A stream of which the client got content. `last` has not been sent: the settlement comes first. */
  | { kind: 'stream'; ending: StreamEnding; account: ReportedUsage; last: Uint8Array }
  /** The upstream answered with a status of its own; nothing was relayed. */
  | { kind: 'status'; status: number; headers: IncomingHttpHeaders; body: Buffer }
  /** The upstream's stream began with an error event; nothing was relayed. */
  | { kind: 'error_event'; error: StreamError }
  /** The exchange failed before anything was relayed. */
  | { kind: 'fault'; fault: DispatchFault | 'unreadable' }
  /** The client left before anything was relayed. `sent`: the upstream had the whole request. */
  | { kind: 'left'; sent: boolean }
  /** This process had to stop before anything was relayed. */
  | { kind: 'shutdown' };

export interface AttemptParts {
  request: DispatchRequest;
  /** The vendor's key that the request carries. What the vendor says of a failure must not show it to the customer. */
  secret: string | null;
  stream: WireStream | null;
  client: Client;
  refusals: Refusals;
  pulse: Pulse;
  timeouts: GatewayTimeouts;
  onDisconnect: 'abort' | 'drain';
  /** Monotonic milliseconds of the first dispatch of this request: the hold-back of the status counts from there. */
  dispatchedAt: number;
  /** Called once when the first content is relayed: from then on the request is not tried anywhere else. */
  onContent(taken: boolean): void;
  /** What a stream that the budget ends here will be charged for; the client is told the same. */
  usageSoFar(account: ReportedUsage): TokenPools;
  /**
   * Builds the spend brake; `stop` ends the stream for want of budget, `resume` lets it go on after the brake had it wait.
   * Not asked for answers that are not streamed.
   */
  brake(stop: () => void, resume: () => void): Brake;
  /** `now` turns true when the process must end at once. */
  shutdown: { readonly now: boolean };
}

/** The largest answer that is not streamed: far above what a model's output cap allows. */
const largestReplyBytes = 64 * 1_048_576;
const largestErrorBytes = 1_048_576;
/** How long an exchange is drained for its account after the client left. */
const drainLimitMs = 30_000;
/** How long an upstream may keep a connection open after the end of its answer, and how long a finished answer is read
 * for its usage after the client left. The pulse adds up to a quarter of a second. */
const lingerLimitMs = 700;
const nothing = new Uint8Array(0);

/** A refusal as the end of a stream whose status line is out. */
function brokenOff({ status, code, message }: Refusal, type: string): Extract<StreamEnd, { reason: 'upstream' }> {
  return { reason: 'upstream', status, type, code, message };
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  return second.length === 0 ? first : Buffer.concat([first, second]);
}

/** Rejects only for a fault of our own; the exchange is over then too. */
export function attempt(parts: AttemptParts): Promise<AttemptEnd> {
  const { client, stream, pulse, timeouts, shutdown, secret, refusals } = parts;
  const gone = () => brokenOff(refusals.upstreamCut(), 'api_error');
  const stalled = () => brokenOff(refusals.upstreamStalled(), 'timeout_error');
  const stopping = () => brokenOff(refusals.draining(), 'overloaded_error');

  return new Promise((resolve, reject) => {
    let over = false;
    let exchangeEnded = false;
    let relayed = false;
    let draining = false;
    let drainUntil = Number.POSITIVE_INFINITY;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let relaying = false;

    const settleDown = (): void => {
      over = true;
      leave();
      client.onDrain(() => undefined);
      client.onGone(() => undefined);
    };

    const finish = (end: AttemptEnd): void => {
      if (over) return;
      settleDown();
      resolve(end);
    };

    /**
     * Everything below runs in callbacks of sockets and timers, where an error would end the process, or be taken for the
     * upstream's: it ends this request alone.
     */
    const guarded = <T>(work: () => T, otherwise: T): T => {
      try {
        return work();
      } catch (error) {
        if (!over) {
          settleDown();
          exchange.abort();
          reject(error instanceof Error ? error : new Error('a thrown value that is no error', { cause: error }));
        }
        return otherwise;
      }
    };

    const endStream = (ending: StreamEnding, last: Uint8Array): void => {
      if (stream === null) return;
      finish({
        kind: 'stream',
        ending: draining ? 'client_closed' : ending,
        account: stream.account(),
        last: draining ? nothing : last,
      });
    };

    const brake =
      stream === null
        ? null
        : parts.brake(
            () =>
              guarded(() => {
                if (over) return;
                exchange.abort();
                endStream(
                  'budget_stopped',
                  relayed ? stream.stop({ reason: 'budget', usage: parts.usageSoFar(stream.account()) }) : nothing,
                );
              }, undefined),
            () => goOn(),
          );

    /** Reads on, unless the client or the brake holds the stream back. */
    const goOn = (): void => {
      if (!over && brake?.waiting !== true && (draining || client.stalledSince === null)) exchange.resume();
    };

    const onShutdown = (): void => {
      exchange.abort();
      if (stream !== null && relayed) endStream('shutdown', draining ? nothing : stream.stop(stopping()));
      else if (draining) finish({ kind: 'left', sent: true });
      else finish({ kind: 'shutdown' });
    };

    /** The upstream is done with a stream, rightly or not. */
    const upstreamEnded = (leftover: Uint8Array, fault: DispatchFault | null): void => {
      if (stream === null) return;
      const { state, error } = stream;
      if (error !== null && !relayed && leftover.length === 0) {
        finish({ kind: 'error_event', error: { ...error, message: textWithoutSecret(secret, error.message) } });
        return;
      }
      if (state === 'terminated') endStream('completed', leftover);
      else if (state === 'failed') endStream('upstream_error', bytesWithoutSecret(secret, leftover));
      else if (state === 'finished') endStream('completed', join(leftover, stream.stop(gone())));
      else if (!relayed && leftover.length === 0) finish({ kind: 'fault', fault: fault ?? 'cut' });
      else if (fault === 'idle_timeout') endStream('timeout', join(leftover, stream.stop(stalled())));
      else endStream('upstream_cut', join(leftover, stream.stop(gone())));
    };

    /** An exchange that said all it had to say ends by itself and leaves its connection usable, if it does so soon. */
    const linger = (): void => {
      const until = performance.now() + lingerLimitMs;
      const stop = pulse.join((now) => {
        if (!exchangeEnded && now < until) return;
        stop();
        if (!exchangeEnded) exchange.abort();
      });
    };

    const piece = (bytes: Buffer): boolean => {
      if (over || stream === null) return true;
      const out = stream.write(bytes);
      const { state } = stream;
      if (state === 'terminated' || state === 'failed' || (stream.error !== null && !relayed)) {
        if (state === 'terminated') linger();
        else exchange.abort();
        upstreamEnded(out, null);
        return true;
      }
      if (out.length === 0) return true;
      if (!relayed) parts.onContent(exchange.taken);
      relayed = true;
      if (!draining) client.startStream();
      const open = draining || client.write(out);
      // An answer that has said why it ended grows no more: whatever it costs, there is nothing left to stop.
      if (state !== 'finished') brake?.check(stream.account());
      return open && brake?.waiting !== true;
    };

    const exchange: Exchange = dispatch(parts.request, {
      head: (code, received) =>
        guarded(() => {
          status = code;
          headers = received;
          // Nobody asked for it, and a small body can unpack to any size: what it says is not looked at.
          const encoding = received['content-encoding'];
          if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return 'nothing';
          if (code >= 300) return largestErrorBytes;
          if (stream === null) return largestReplyBytes;
          relaying = /^text\/event-stream\b/i.test(received['content-type'] ?? '');
          return relaying ? 'pieces' : 'nothing';
        }, 'nothing'),
      piece: (bytes) => guarded(() => piece(bytes), true),
      end(whole) {
        exchangeEnded = true;
        if (over) return;
        guarded(() => {
          if (relaying && stream !== null) upstreamEnded(stream.end(), null);
          else if (status >= 300)
            finish({ kind: 'status', status, headers, body: Buffer.from(bytesWithoutSecret(secret, whole)) });
          else if (stream !== null) finish({ kind: 'fault', fault: 'unreadable' });
          else finish({ kind: 'whole', body: whole, clientLeft: draining, taken: exchange.taken });
        }, undefined);
      },
      fault(fault) {
        exchangeEnded = true;
        if (over) return;
        guarded(() => {
          if (draining && !relayed) finish({ kind: 'left', sent: true });
          else if (relaying && stream !== null) upstreamEnded(stream.end(), fault);
          // A status that says what failed needs no body.
          else if (status >= 300) finish({ kind: 'status', status, headers, body: Buffer.alloc(0) });
          else finish({ kind: 'fault', fault });
        }, undefined);
      },
    });

    const stopDraining = (): void => {
      exchange.abort();
      if (stream !== null && relayed) endStream('client_closed', nothing);
      else finish({ kind: 'left', sent: true });
    };

    const beat = (now: number): void => {
      if (shutdown.now) {
        onShutdown();
        return;
      }
      if (draining) {
        if (now > drainUntil) stopDraining();
        return;
      }
      if (client.stalledSince !== null && now - client.stalledSince > timeouts.clientStallMs) {
        client.destroy();
        return;
      }
      if (stream === null) return;
      if (!client.streaming) {
        if (now - parts.dispatchedAt > timeouts.firstEventMs) {
          client.startStream();
          client.keepAlive(stream.keepAlive);
        }
      } else if (now - client.lastWriteAt > timeouts.keepAliveMs) client.keepAlive(stream.keepAlive);
    };
    const leave = pulse.join((now) => guarded(() => beat(now), undefined));

    client.onDrain(goOn);
    client.onGone(() =>
      guarded(() => {
        if (over) return;
        // An answer that is complete but for its account costs nothing more to wait for, and without the account a client
        // that leaves at this moment would get its reasoning for nothing.
        const finished = stream !== null && stream.state === 'finished';
        if ((parts.onDisconnect === 'drain' || finished) && exchange.sent) {
          draining = true;
          drainUntil = performance.now() + (parts.onDisconnect === 'drain' ? drainLimitMs : lingerLimitMs);
          exchange.resume();
          return;
        }
        exchange.abort();
        if (stream !== null && relayed) endStream('client_closed', nothing);
        else finish({ kind: 'left', sent: exchange.sent });
      }, undefined),
    );
  });
}
