import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isSaidByDatabase } from '../../database/lane.ts';
import { describeError, requestLog } from '../../runtime/http.ts';
import type { BankProvider } from './bank-provider.ts';
import type { RefusalReason, RefusedMessages } from './refused-messages.ts';
import type { TransferReceipt, Transfers } from './transfers.ts';

/** The webhooks of bank providers: `POST /webhooks/<provider>`. */

/** The outcome of a message. Of a refused message this alone is kept (`refused-messages.ts`); it is not logged. */
export type WebhookOutcome = TransferReceipt['kind'] | RefusalReason;

export interface BankWebhookDeps {
  providers: readonly BankProvider[];
  transfers: Pick<Transfers, 'receive'>;
  count?: (provider: string, outcome: WebhookOutcome) => void;
  refusals?: RefusedMessages;
  now?: () => Date;
}

// Messages of all providers are a few hundred bytes.
const bodyLimit = 65_536;

/**
 * Registers one route for each provider. 200 is answered only after the transfer is stored and applied, whatever the
 * decision; 401 for a wrong proof, 503 while no secret is configured or the database is unreachable (providers retry
 * for half an hour and longer), 400 for an authentic message of an unknown shape.
 */
export async function registerBankWebhooks(app: FastifyInstance, deps: BankWebhookDeps): Promise<void> {
  const { providers, transfers, refusals, count = () => {}, now = () => new Date() } = deps;
  await app.register(async (scope) => {
    // The signature covers bytes: they are read raw, whatever their content type.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body));
    for (const provider of providers)
      scope.post(`/webhooks/${provider.name}`, { bodyLimit }, (request, reply) => take(provider, request, reply));
  });

  async function take(provider: BankProvider, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const refuse = (status: number, reason: RefusalReason, sentence: string) => {
      count(provider.name, reason);
      refusals?.note(provider.name, reason);
      return reply.code(status).send({ success: false, message: sentence });
    };

    const proof = provider.authenticate({ headers: request.headers, body, now: now() });
    switch (proof) {
      case 'not_configured':
        return refuse(503, proof, 'This webhook has no secret configured.');
      case 'unsigned':
        return refuse(401, proof, 'The message carries no signature.');
      case 'forged':
        return refuse(401, proof, 'The signature does not match.');
      case 'stale':
        return refuse(401, proof, 'The signature is too old.');
      case 'genuine':
    }

    const told = provider.parse(body, now());
    if (told === null) {
      requestLog(request).error(
        { kind: 'bank_webhook_unreadable' },
        'a genuine message about a bank transfer was not understood',
      );
      return refuse(400, 'unreadable', 'The message was not understood.');
    }
    let failed = false;
    for (const transfer of told) {
      try {
        const receipt = await transfers.receive(transfer);
        count(provider.name, receipt.kind);
        requestLog(request).info({ transferId: receipt.transferId, outcome: receipt.kind }, 'bank transfer');
      } catch (error) {
        // The other transfers are stored nevertheless: one that can never be stored must not block them.
        failed = true;
        requestLog(request).error(describeError(error), 'a bank transfer could not be stored');
        if (!isSaidByDatabase(error)) break;
      }
    }
    if (failed) return refuse(503, 'failed', 'The transfer could not be stored; try again.');
    refusals?.forget(provider.name);
    return reply.code(200).send(provider.accepted);
  }
}
