/** How the service recognises itself at an address: it signs a challenge that it sends there. */

import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isSameSecret } from '../shared/constant-time.ts';

const path = '/address-proof';
const challengeShape = /^[0-9a-f]{32}$/;
const timeoutMs = 10_000;
const proofLength = 64;

/** `elsewhere`: something else answers there. */
export type AddressFinding = { kind: 'here' } | { kind: 'elsewhere' | 'unreachable'; detail: string };

export function createAddressProof(secretKey: Buffer) {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'steyg address proof', 32));
  const sign = (challenge: string): string => createHmac('sha256', key).update(challenge).digest('hex');
  return {
    register(app: FastifyInstance): void {
      app.get<{ Params: { challenge: string } }>(`${path}/:challenge`, (request, reply) => {
        const { challenge } = request.params;
        if (!challengeShape.test(challenge)) return reply.callNotFound();
        return reply.header('cache-control', 'no-store').type('text/plain').send(sign(challenge));
      });
    },
    /** Whether this installation answers at a public address, asked from here as a stranger would. */
    async examine(publicUrl: string): Promise<AddressFinding> {
      const challenge = randomBytes(16).toString('hex');
      try {
        const answer = await fetch(`${publicUrl}${path}/${challenge}`, {
          // A redirect would lead people's programs elsewhere, too.
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        });
        const proof = await startOf(answer);
        return isSameSecret(Buffer.from(proof), Buffer.from(sign(challenge)))
          ? { kind: 'here' }
          : { kind: 'elsewhere', detail: String(answer.status) };
      } catch (error) {
        return { kind: 'unreachable', detail: codeOf(error) };
      }
    },
  };
}

export type AddressProof = ReturnType<typeof createAddressProof>;

/** As much of an answer as a proof has: what else answers there may send anything. */
async function startOf({ body }: Response): Promise<string> {
  let text = '';
  if (body === null) return text;
  for await (const part of body) {
    text += Buffer.from(part).toString('latin1');
    if (text.length > proofLength) break;
  }
  return text;
}

/** Of a failed `fetch`: a name such as ENOTFOUND or CERT_HAS_EXPIRED. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : 'TIMEOUT';
}
