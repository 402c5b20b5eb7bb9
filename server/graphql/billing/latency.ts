import { type LatencyRecord, maxTimed, readLatency } from '../../billing/reads/latency.ts';
import { RangeTooWide } from '../../billing/reads/usage.ts';
import { decodeUuid, noSuchId } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { badInput } from '../types/errors.ts';
import { checkRange, HourOrDay } from '../types/ranges.ts';
import { checkedUsage, checkZone } from './usage.ts';

/** How fast an account's requests were answered. */

const LatencyPointType = builder.objectRef<LatencyRecord>('LatencyPoint').implement({
  description: 'How long the completed requests of one period took.',
  authScopes: { public: true },
  fields: (t) => ({
    start: t.expose('start', { type: 'DateTime', description: 'When the period begins.' }),
    requests: t.exposeInt('requests', { description: 'Requests that completed.' }),
    latencyP50Ms: t.int({ description: 'Half of them took at most so long.', resolve: ({ p50 }) => p50 }),
    latencyP95Ms: t.int({ description: '95 of 100 took at most so long.', resolve: ({ p95 }) => p95 }),
    firstByteP50Ms: t.int({
      nullable: true,
      description: 'Half of the streams began within this time; null: there were none.',
      resolve: ({ firstByteP50 }) => firstByteP50,
    }),
    firstByteP95Ms: t.int({
      nullable: true,
      description: '95 of 100 streams began within this time; null: there were none.',
      resolve: ({ firstByteP95 }) => firstByteP95,
    }),
  }),
});

const longest = { hour: 8, day: 100 };

builder.prismaObjectFields(AccountType, (t) => ({
  latency: t.field({
    type: [LatencyPointType],
    description: `How long requests took, by period, the oldest first; a period without completed requests is left out. At most ${maxTimed} requests, 8 days of hours and 100 days.`,
    select: { id: true },
    // Entries are read, however few points come of them.
    complexity: { field: 500, multiplier: 1 },
    args: {
      from: t.arg({ type: 'DateTime', required: true, description: 'Requests from this moment on.' }),
      to: t.arg({ type: 'DateTime', description: 'Requests before this moment; left out: until now.' }),
      period: t.arg({ type: HourOrDay, required: true, description: 'How long the periods are.' }),
      model: t.arg.string({ description: 'Only this catalog id.' }),
      keyId: t.arg.id({ description: 'Only this key.' }),
      timeZone: t.arg.string({ defaultValue: 'UTC', description: 'Where days begin.' }),
    },
    resolve: ({ id: accountId }, { from, to, period, model, keyId, timeZone }, { history }) =>
      checkedUsage(async () => {
        checkRange({ from, to }, 'to');
        if ((to ?? new Date()).getTime() - from.getTime() > (longest[period] + 1) * 86_400_000)
          throw badInput('from', `At most ${longest[period]} days at once: give a \`from\` that is closer to \`to\`.`);
        const query = {
          accountId,
          from,
          to: to ?? null,
          period,
          timeZone: checkZone(timeZone ?? 'UTC'),
          model: model ?? null,
          keyId: keyId == null ? null : (decodeUuid('ApiKey', keyId) ?? noSuchId),
        };
        return readLatency(history, query).catch((error: unknown) => {
          if (error instanceof RangeTooWide)
            throw badInput(
              'from',
              `There are more than ${maxTimed} requests: choose a shorter range, a key or a model.`,
            );
          throw error;
        });
      }),
  }),
}));
