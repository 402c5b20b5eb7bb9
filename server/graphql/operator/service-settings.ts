import { actorOf } from '../../people/principal.ts';
import type { SettingState } from '../../settings/settings.ts';
import {
  type GroupEntry,
  type SettingEntry,
  type SettingGroup,
  settingGroupNames,
  settingGroups,
} from '../../settings/table.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { wordValues } from '../types/enums.ts';
import { InputError } from '../types/errors.ts';
import { OperatorType } from './operator.ts';

/** The service's settings that operators keep in the dashboard: made from their one table. */

const SettingGroupType = builder.enumType('SettingGroup', {
  description: 'Settings that belong together.',
  values: wordValues<SettingGroup>({
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
    source: t.expose('source', { type: SettingSourceType, description: 'Where it comes from.' }),
    shown: t.exposeString('shown', {
      nullable: true,
      description: 'What it is now, of a secret how it ends; null: not set.',
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
    heardAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the provider last told of a transfer; null: never, or it tells of none.',
      resolve: async ({ group }, _args, { prisma }) => {
        const { webhook }: GroupEntry = settingGroups[group];
        if (webhook === undefined) return null;
        const last = await prisma.bankTransfer.findFirst({
          where: { provider: webhook },
          orderBy: { createdAt: 'desc' },
          select: { createdAt: true },
        });
        return last?.createdAt ?? null;
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
  description: 'What `saveSettings` takes.',
  fields: (t) => ({
    group: t.field({ type: SettingGroupType, required: true, description: 'Which group.' }),
    values: t.field({ type: [SettingValueInput], required: true, description: 'What changes; the others stay.' }),
  }),
});

const TestSettingsInput = builder.inputType('TestSettingsInput', {
  description: 'What `testSettings` takes.',
  fields: (t) => ({
    group: t.field({ type: SettingGroupType, required: true, description: 'Which group.' }),
    values: t.field({ type: [SettingValueInput], required: true, description: 'What would change.' }),
  }),
});

const SettingsTestType = builder.objectRef<{ ok: boolean; problem: string | null }>('SettingsTest').implement({
  description: 'What a try of settings showed.',
  authScopes: { operator: true },
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Whether they work.' }),
    problem: t.exposeString('problem', { nullable: true, description: 'Why not; null when they do.' }),
  }),
});

type Problems = readonly { name: string | null; message: string }[];

function refuseSettings(problems: Problems): never {
  throw new InputError(
    problems.map(({ name, message }) =>
      name === null ? { path: ['input', 'values'], message } : { path: ['input', name], message: `${name} ${message}` },
    ),
  );
}

builder.mutationFields((t) => ({
  saveSettings: t.field({
    type: SettingsOfGroupType,
    description:
      'Stores settings, sealed, and puts them in force on all processes. What the environment has cannot be stored.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: SaveSettingsInput, required: true, description: 'Everything that it is given.' }) },
    resolve: async (_root, { input }, context) => {
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
    args: { input: t.arg({ type: TestSettingsInput, required: true, description: 'Everything that it is given.' }) },
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
