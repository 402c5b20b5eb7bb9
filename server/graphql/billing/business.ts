import { readTakings, type Takings } from '../../books/takings.ts';
import { builder } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { checkZone, zoneOf } from './usage.ts';

/** The operator's home: how the business is doing now, and what waits for a person. */

const recentDays = 7;

const BusinessType = builder.objectRef<Takings>('Business').implement({
  description: 'How the business is doing, and what waits for a person.',
  authScopes: { operator: true },
  fields: (t) => ({
    vndToday: t.expose('vndToday', { type: 'VndAmount', description: 'Money for orders that the bank booked today.' }),
    vndThisMonth: t.expose('vndThisMonth', {
      type: 'VndAmount',
      description: 'Money for orders that the bank booked this month.',
    }),
    waitingTransfers: t.exposeInt('waitingTransfers', { description: 'Transfers that wait for a person.' }),
    waitingSince: t.expose('waitingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest of them arrived.',
    }),
    newAccounts: t.int({
      description: 'Customers of the last seven days, without the operators’ own accounts.',
      resolve: (_business, _args, { prisma }) =>
        prisma.account.count({
          where: {
            kind: 'customer',
            createdAt: { gt: new Date(Date.now() - recentDays * 86_400_000) },
            members: { none: { user: { OR: [{ operator: true }, { operatorRole: { not: null } }] } } },
          },
        }),
    }),
    openIncidents: t.int({
      description: 'Models that fail at this moment, by the probes.',
      resolve: (_business, _args, { prisma }) => prisma.incident.count({ where: { endedAt: null } }),
    }),
    failingUpstreams: t.prismaField({
      type: ['Upstream'],
      description: 'Upstreams that do not work at this moment, as the process that answers sees them.',
      resolve: (query, _business, _args, { prisma, domains }) =>
        prisma.upstream.findMany({
          ...query,
          where: { id: { in: domains.upstreamHealth().map(({ upstreamId }) => upstreamId) } },
          orderBy: { id: 'asc' },
        }),
    }),
    modelMismatches: t.int({
      description: 'Answers by another model than the one asked for that nobody has looked at.',
      resolve: (_business, _args, { prisma }) => prisma.modelMismatch.count({ where: { closedAt: null } }),
    }),
  }),
});

builder.objectField(OperatorType, 'business', (t) =>
  t.field({
    type: BusinessType,
    description: 'How the business is doing, and what waits for a person.',
    args: { timeZone: t.arg.string({ defaultValue: 'UTC', description: zoneOf }) },
    resolve: (_operator, { timeZone }, { db }) => readTakings(db, checkZone(timeZone ?? 'UTC')),
  }),
);
