import type { PrismaClient } from '../../database/generated/prisma/client.ts';
import { type ControlPrincipal, hasTwoFactors } from '../../people/principal.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from './operator.ts';

/** What a service still needs before customers can pay for it. */

const steps = {
  SECOND_FACTOR: { description: 'The operator who asks signs in with a one-time code.' },
  VENDOR: { description: 'A model is on sale that runs at a vendor, not at the simulator.' },
  PLAN: { description: 'A plan is on sale.' },
  SELLER: { description: 'Customers read who sells, under which terms, and where they get help.' },
  BANK_ACCOUNT: { description: 'Orders name the bank account of the business.' },
  BANK_WEBHOOK: { description: 'A bank provider has reported a transfer.' },
  SMTP: { description: 'Mails are sent, not written to files.' },
  PUBLIC_ADDRESS: { description: 'The service has an address that others reach, over https.' },
} as const;
type Step = keyof typeof steps;

const SetupStep = builder.enumType('SetupStep', { description: 'A step of setting the service up.', values: steps });

const SetupItem = builder.objectRef<{ step: Step; done: boolean }>('SetupItem').implement({
  description: 'Whether a step is done.',
  authScopes: { operator: true },
  fields: (t) => ({
    step: t.field({ type: SetupStep, description: 'Which step.', resolve: ({ step }) => step }),
    done: t.exposeBoolean('done', { description: 'Whether it is done.' }),
  }),
});

builder.objectField(OperatorType, 'setup', (t) =>
  t.field({
    type: [SetupItem],
    description: 'What the service needs before customers can pay for it, in the order of doing it.',
    resolve: async (_operator, _args, { prisma, domains, principal, publicUrl }) => {
      const [seller, isSold, hasPlan, hasHeard] = await Promise.all([
        domains.parties.seller(),
        sellsVendorModels(prisma),
        prisma.plan.findFirst({ where: { enabled: true }, select: { id: true } }),
        prisma.bankTransfer.findFirst({ where: { provider: { not: 'operator' } }, select: { id: true } }),
      ]);
      const done: Record<Step, boolean> = {
        SECOND_FACTOR: hasSecondFactor(principal),
        VENDOR: isSold,
        PLAN: hasPlan !== null,
        SELLER: [seller.name, seller.supportEmail, seller.termsUrl].every((text) => text !== ''),
        BANK_ACCOUNT: domains.orders.bank !== null && !domains.orders.bank.isDemonstration,
        BANK_WEBHOOK: hasHeard !== null,
        SMTP: domains.sendsMail,
        PUBLIC_ADDRESS: isPublic(publicUrl),
      };
      return (Object.keys(steps) as Step[]).map((step) => ({ step, done: done[step] }));
    },
  }),
);

/** A token was made by somebody; whether a person uses two factors is only known of people. */
function hasSecondFactor(principal: ControlPrincipal): boolean {
  return principal.kind === 'user' && hasTwoFactors(principal);
}

async function sellsVendorModels(prisma: PrismaClient): Promise<boolean> {
  const route = await prisma.route.findFirst({
    where: {
      enabled: true,
      model: { enabled: true, prices: { some: { validFrom: { lte: new Date() } } } },
      upstream: { enabled: true, simulated: false },
    },
    select: { id: true },
  });
  return route !== null;
}

function isPublic(url: GraphqlContext['publicUrl']): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' && !/^(localhost|127\.|\[::1\])/.test(hostname);
}
