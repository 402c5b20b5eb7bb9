import type { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../people/sign-in/throttle.ts';
import { createRates } from '../shared/rates.ts';
import { linkHeaders } from './signed-links.ts';

/** Limits of pages behind signed links, as for operations: load shedding, and a rate. */
export interface LinkLimits {
  /** Answers a request that is refused; null when it is not. */
  refuse(request: FastifyRequest, reply: FastifyReply): FastifyReply | null;
}

/** Requests of one network. */
const rate = { burst: 60, perSecond: 1 };
const lateRetryAfterS = 2;

export function createLinkLimits({ isLate }: { isLate: () => boolean }): LinkLimits {
  const networks = createRates(rate);
  return {
    refuse(request, reply) {
      if (isLate()) return tryAgain(reply, 503, lateRetryAfterS);
      const wait = networks.take(networkOf(request.ip));
      return wait === null ? null : tryAgain(reply, 429, wait);
    },
  };
}

/** Sets `Retry-After`. */
export function tryAgain(reply: FastifyReply, status: 429 | 503, retryAfterSeconds: number): FastifyReply {
  return reply
    .code(status)
    .headers({ ...linkHeaders, 'retry-after': String(retryAfterSeconds) })
    .type('text/plain; charset=utf-8')
    .send(`Too many requests at this moment; try again in ${retryAfterSeconds} s.\n`);
}
