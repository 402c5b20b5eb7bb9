/** The addresses that a machine asks to get a key, and to give it back (RFC 8628, RFC 7009): forms or JSON, no cookies. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { MachineLogins } from '../people/machine-logins.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';
const maxBodyBytes = 4_096;

type Fields = Record<string, unknown>;

export function registerMachineLogin(
  app: FastifyInstance,
  /** The logins and the address are read for each question: they follow the public address. */
  parts: { readonly logins: MachineLogins; readonly publicUrl: string; isLate: () => boolean },
): void {
  void app.register(
    async (scope) => {
      // One parser for what a machine may send; a text that is neither becomes no fields, and the answer names what is missing.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxBodyBytes }, (request, body, done) =>
        done(null, fieldsOf(request.headers['content-type'] ?? '', String(body))),
      );
      scope.addHook('onRequest', async (_request, reply) => {
        void reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
        if (parts.isLate())
          return refuse(reply, 503, 'temporarily_unavailable', 'Try again in a moment.', lateRetryAfterS);
      });

      scope.post('/code', async (request, reply) => {
        const begun = await parts.logins.begin({ machine: textOf(request.body, 'machine'), ip: request.ip });
        if (begun.kind === 'throttled')
          return refuse(
            reply,
            429,
            'temporarily_unavailable',
            `Too many codes for this network; try again in ${begun.retryAfterS} s.`,
            begun.retryAfterS,
          );
        const page = `${parts.publicUrl}/device`;
        return reply.send({
          device_code: begun.deviceCode,
          user_code: begun.userCode,
          verification_uri: page,
          verification_uri_complete: `${page}?code=${begun.userCode}`,
          expires_in: begun.expiresInS,
          interval: begun.intervalS,
        });
      });

      scope.post('/token', async (request, reply) => {
        if (textOf(request.body, 'grant_type') !== grantType)
          return refuse(reply, 400, 'unsupported_grant_type', `grant_type must be ${grantType}.`);
        const outcome = await parts.logins.fetchKey(textOf(request.body, 'device_code'));
        switch (outcome.kind) {
          case 'key':
            return reply.send({ access_token: outcome.secret, token_type: 'Bearer', key_name: outcome.name });
          case 'slow_down':
            return refuse(reply, 400, 'slow_down', `Wait ${outcome.intervalS} s between two questions.`);
          case 'pending':
            return refuse(reply, 400, 'authorization_pending', 'Nobody has decided yet.');
          case 'denied':
            return refuse(reply, 400, 'access_denied', 'The request was refused.');
          case 'refused':
            return refuse(reply, 400, 'access_denied', 'Who approved it may no longer make this key.');
          case 'expired':
            return refuse(reply, 400, 'expired_token', 'The code has ended; begin again.');
          case 'unknown':
            return refuse(reply, 400, 'invalid_grant', 'The device code is unknown or used.');
        }
      });

      scope.post('/revoke', async (request, reply) => {
        const bearer = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
        switch (bearer === undefined ? 'unknown' : await parts.logins.endKey(bearer)) {
          case 'ended':
            return reply.send({ revoked: true });
          case 'unknown':
            return refuse(reply, 401, 'invalid_token', 'The key is unknown, or was deleted before.');
          case 'shared':
            return refuse(
              reply,
              403,
              'access_denied',
              'The key belongs to an account, where others may use it: delete it on the page API keys.',
            );
        }
      });
    },
    { prefix: '/api/device' },
  );
}

const lateRetryAfterS = 2;

function refuse(
  reply: FastifyReply,
  status: number,
  error: string,
  description: string,
  retryAfterS?: number,
): FastifyReply {
  if (retryAfterS !== undefined) void reply.header('retry-after', String(retryAfterS));
  return reply.code(status).send({ error, error_description: description });
}

function fieldsOf(type: string, text: string): Fields {
  if (!type.toLowerCase().includes('json')) return Object.fromEntries(new URLSearchParams(text));
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function textOf(body: FastifyRequest['body'], name: string): string {
  const value = typeof body === 'object' && body !== null ? (body as Fields)[name] : undefined;
  return typeof value === 'string' ? value : '';
}
