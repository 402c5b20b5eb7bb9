import { actorOf } from '../../people/principal.ts';
import type { RefusalReason } from '../../plans/bank/refused-messages.ts';
import { findings, type SettingsFinding, type SettingsTest } from '../../settings/findings.ts';
import type { SettingState, SettingsChange } from '../../settings/settings.ts';
import {
  type GroupEntry,
  type SettingEntry,
  type SettingGroup,
  settingGroupNames,
  settingGroups,
} from '../../settings/table.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { storedEnum, wordValues } from '../types/enums.ts';
import { InputError } from '../types/errors.ts';
import { OperatorType } from './operator.ts';

/** The service's settings that operators keep in the dashboard: made from their one table. */

const SettingGroupType = builder.enumType('SettingGroup', {
  description: 'Settings that belong together.',
  values: wordValues<SettingGroup>({
    address: 'The address that people and programs reach the service at.',
    payments: 'How long orders wait, and how many an account has.',
    bank: 'The account that customers pay to.',
    sepay: 'SePay tells of transfers.',
    casso: 'Casso tells of transfers.',
    payos: 'payOS tells of transfers.',
    mail: 'The server that takes mails.',
    google: 'People sign in with Google.',
    github: 'People sign in with GitHub.',
    oidc: 'People sign in with an OpenID provider.',
    einvoice: 'E-invoices through SePay.',
  }),
});

const SettingKindType = builder.enumType('SettingKind', {
  description: 'How a setting is entered.',
  values: wordValues<SettingEntry['kind']>({
    text: 'One line of text.',
    secret: 'A secret: write-only.',
    choice: 'One of several words.',
  }),
});

const SettingSourceType = builder.enumType('SettingSource', {
  description: 'Where a setting comes from.',
  values: wordValues<SettingState['source']>({
    environment: 'A variable of the server, which wins.',
    stored: 'It was saved here.',
    default: 'It is not set.',
  }),
});

const ServiceSettingType = builder.objectRef<SettingEntry & SettingState>('ServiceSetting').implement({
  description: 'A setting of the service.',
  authScopes: { operator: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The environment variable that it stands for.' }),
    kind: t.expose('kind', { type: SettingKindType, description: 'How it is entered.' }),
    choices: t.stringList({
      description: 'Of a choice: its words, the default first.',
      resolve: ({ choices }) => [...(choices ?? [])],
    }),
    required: t.exposeBoolean('required', { description: 'Whether its group needs it.' }),
    fallback: t.string({
      nullable: true,
      description: 'What counts where it is not set; null: nothing.',
      resolve: ({ fallback }) => fallback ?? null,
    }),
    source: t.expose('source', { type: SettingSourceType, description: 'Where it comes from.' }),
    shown: t.exposeString('shown', {
      nullable: true,
      description: 'What it is now, of a secret how it ends; null: not set.',
    }),
  }),
});

const RefusalReasonType = storedEnum('WebhookRefusalReason', {
  description: 'Why a message of a bank’s provider was refused.',
  values: {
    UNSIGNED: { value: 'unsigned', description: 'It has no signature, or no API key, where one is expected.' },
    FORGED: { value: 'forged', description: 'Its signature or API key is not of the secret that is set.' },
    STALE: { value: 'stale', description: 'It was signed too long ago, or in the future.' },
    NOT_CONFIGURED: { value: 'not_configured', description: 'No secret was set.' },
    UNREADABLE: { value: 'unreadable', description: 'It was genuine, and not understood.' },
    FAILED: { value: 'failed', description: 'It was genuine, and could not be stored.' },
  } satisfies Record<string, { value: RefusalReason; description: string }>,
});

const WebhookRefusalType = builder.objectRef<{ at: Date; reason: string }>('WebhookRefusal').implement({
  description: 'A message of a bank’s provider that was refused. Nothing else of it is kept.',
  authScopes: { operator: true },
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    reason: t.field({
      type: RefusalReasonType,
      nullable: true,
      description: 'Why.',
      resolve: ({ reason }) => reason as RefusalReason,
    }),
  }),
});

interface GroupView {
  group: SettingGroup;
  settings: readonly SettingState[];
}

const SettingsOfGroupType = builder.objectRef<GroupView>('SettingsOfGroup').implement({
  description: 'The settings of one group.',
  authScopes: { operator: true },
  fields: (t) => ({
    group: t.expose('group', { type: SettingGroupType, description: 'Which group.' }),
    hasTest: t.boolean({
      description: 'Whether `testSettings` tries it.',
      resolve: ({ group }) => settingGroups[group].hasTest,
    }),
    webhookAddress: t.string({
      nullable: true,
      description: 'The address to enter at the provider; null: it sends nothing.',
      resolve: ({ group }, _args, { publicUrl }) => {
        const { webhook }: GroupEntry = settingGroups[group];
        return webhook === undefined ? null : `${publicUrl}/webhooks/${webhook}`;
      },
    }),
    lastTransfer: t.prismaField({
      type: 'BankTransfer',
      nullable: true,
      description:
        'The last transfer to the bank account, or the last that the provider reported; null: none, or it is about none.',
      resolve: (query, { group }, _args, { prisma, domains }) => {
        const { webhook }: GroupEntry = settingGroups[group];
        const where =
          group === 'bank'
            ? { accountNumbers: { has: domains.orders.bank?.account ?? '' }, provider: { not: 'operator' } }
            : { provider: webhook ?? '' };
        if (group !== 'bank' && webhook === undefined) return null;
        return prisma.bankTransfer.findFirst({
          ...query,
          where: { ...where, direction: 'in' },
          orderBy: { createdAt: 'desc' },
        });
      },
    }),
    refusals: t.field({
      type: [WebhookRefusalType],
      description:
        'The last message of each reason that was refused since the provider’s last accepted one, newest first.',
      resolve: async ({ group }, _args, { prisma }) => {
        const { webhook }: GroupEntry = settingGroups[group];
        if (webhook === undefined) return [];
        return prisma.bankRefusal.findMany({ where: { provider: webhook }, orderBy: { at: 'desc' } });
      },
    }),
    settings: t.field({
      type: [ServiceSettingType],
      description: 'Its settings, in the order of the form.',
      resolve: ({ group, settings }) =>
        settings.flatMap((state) => {
          const entries: readonly SettingEntry[] = settingGroups[group].settings;
          const entry = entries.find(({ name }) => name === state.name);
          return entry === undefined ? [] : [{ ...entry, ...state }];
        }),
    }),
  }),
});

const viewOf = ({ domains }: Pick<GraphqlContext, 'domains'>, group: SettingGroup): GroupView => ({
  group,
  settings: domains.operatorSettings.group(group),
});

builder.objectField(OperatorType, 'settings', (t) =>
  t.field({
    type: [SettingsOfGroupType],
    description: 'The settings of the service that are kept here or in its environment.',
    resolve: (_operator, _args, context) => settingGroupNames.map((group) => viewOf(context, group)),
  }),
);

const SettingValueInput = builder.inputType('SettingValueInput', {
  description: 'A setting and its new value.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Which setting.' }),
    value: t.string({ required: true, description: 'Its value; empty: it is deleted.' }),
  }),
});

const SaveSettingsInput = builder.inputType('SaveSettingsInput', {
  fields: (t) => ({
    group: t.field({ type: SettingGroupType, required: true, description: 'Which group.' }),
    values: t.field({ type: [SettingValueInput], required: true, description: 'What changes; the others stay.' }),
  }),
});

const TestSettingsInput = builder.inputType('TestSettingsInput', {
  fields: (t) => ({
    group: t.field({ type: SettingGroupType, required: true, description: 'Which group.' }),
    values: t.field({ type: [SettingValueInput], required: true, description: 'What would change.' }),
  }),
});

const SettingsFindingType = builder.enumType('SettingsFinding', {
  description: 'What a try of settings showed.',
  values: wordValues<SettingsFinding>(
    Object.fromEntries(Object.entries(findings).map(([name, { sentence }]) => [name, sentence])) as Record<
      SettingsFinding,
      string
    >,
  ),
});

const SettingsTestType = builder.objectRef<SettingsTest>('SettingsTest').implement({
  description: 'What a try of settings showed.',
  authScopes: { operator: true },
  fields: (t) => ({
    ok: t.boolean({
      description: 'Whether they do what they are for, as far as a try can show.',
      resolve: ({ finding }) => findings[finding].ok,
    }),
    finding: t.expose('finding', { type: SettingsFindingType, description: 'What was proved, and what was not.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'A code, a status, or the names that the provider has; null: none.',
    }),
    problem: t.string({
      nullable: true,
      description: 'Why not, in a sentence; null when they work.',
      resolve: ({ finding, detail }) => (findings[finding].ok ? null : sentenceOf({ finding, detail })),
    }),
  }),
});

function sentenceOf({ finding, detail }: SettingsTest): string {
  const { sentence } = findings[finding];
  return detail === null ? sentence : `${sentence} (${detail})`;
}

type Problems = readonly { name: string | null; message: string }[];

function refuseSettings(problems: Problems): never {
  throw new InputError(
    problems.map(({ name, message }) =>
      name === null ? { path: ['input', 'values'], message } : { path: ['input', name], message: `${name} ${message}` },
    ),
  );
}

/** Refuses what would lock people out if it were wrong, and is. Taking it away falls back to the environment. */
async function refuseUnproved(change: SettingsChange, { domains }: Pick<GraphqlContext, 'domains'>): Promise<void> {
  const { isProved = false }: GroupEntry = settingGroups[change.group];
  const changed = change.values.find(({ value }) => value.trim() !== '');
  if (!isProved || changed === undefined) return;
  const preview = await domains.operatorSettings.preview(change);
  if (preview.kind === 'invalid') return refuseSettings(preview.problems);
  const shown = await domains.testSettings(change.group, preview.config, null);
  if (!findings[shown.finding].ok)
    refuseSettings([{ name: changed.name, message: `is not stored: ${sentenceOf(shown)}` }]);
}

builder.mutationFields((t) => ({
  saveSettings: t.field({
    type: SettingsOfGroupType,
    description:
      'Stores settings, sealed, and puts them in force on all processes. What the environment has cannot be stored.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: SaveSettingsInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      await refuseUnproved(input, context);
      const outcome = await context.domains.operatorSettings.save(input, actorOf(context.principal));
      if (outcome.kind === 'invalid') refuseSettings(outcome.problems);
      return viewOf(context, input.group);
    },
  }),
  testSettings: t.field({
    type: SettingsTestType,
    description: 'Tries settings without storing them: sends a mail to the operator who asks, or asks the provider.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: TestSettingsInput, required: true }) },
    resolve: async (_root, { input }, { domains, prisma, principal }) => {
      const preview = await domains.operatorSettings.preview(input);
      if (preview.kind === 'invalid') return refuseSettings(preview.problems);
      const person =
        principal.kind === 'user'
          ? await prisma.user.findUnique({ where: { id: principal.userId }, select: { email: true } })
          : null;
      return domains.testSettings(input.group, preview.config, person?.email ?? null);
    },
  }),
}));
