import type { Quirk, VendorEndpoint, VendorProfile } from '../../catalog/profiles/profile.ts';
import { vendorProfiles } from '../../catalog/profiles/profiles.ts';
import type { UpstreamHealth } from '../../catalog/upstream-health.ts';
import type { UpstreamFeatures } from '../../core/features.ts';
import type { Protocol } from '../../core/protocol.ts';
import { actorOf, isOperator } from '../../people/principal.ts';
import { noSuchId } from '../access.ts';
import { builder } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { storedEnum } from '../types/enums.ts';
import { changeErrors, given, named, throwCatalogRefusal } from './changes.ts';
import { ProtocolType } from './protocol.ts';

/** Upstreams and their keys, as operators see and change them. */

const OnDisconnect = builder.enumType('OnDisconnect', {
  description: 'What happens to an exchange with an upstream when the client leaves.',
  values: {
    ABORT: { value: 'abort', description: 'It is ended.' },
    DRAIN: { value: 'drain', description: 'It goes on for a bounded time, so that its usage is known.' },
  } as const,
});

const MaxTokensFieldType = storedEnum('MaxTokensField', {
  description: 'The name of the cap on the output that an upstream takes.',
  values: {
    MAX_TOKENS: { value: 'max_tokens', description: '`max_tokens`.' },
    MAX_COMPLETION_TOKENS: { value: 'max_completion_tokens', description: '`max_completion_tokens`.' },
  } as const,
});

const SystemRoleType = storedEnum('SystemRole', {
  description: 'How a system message in mid-conversation is sent.',
  values: {
    KEEP: { value: 'keep', description: 'Where it stands.' },
    USER: { value: 'user', description: 'As a message of the user.' },
    HOIST: { value: 'hoist', description: 'Ahead of the conversation.' },
  } as const,
});

const ToolChoiceSupportType = storedEnum('ToolChoiceSupport', {
  description: 'The strongest tool choice that binds.',
  values: {
    NAMED: { value: 'named', description: 'A named tool.' },
    REQUIRED: { value: 'required', description: 'Any tool.' },
    AUTO: { value: 'auto', description: 'None that binds.' },
  } as const,
});

const CachedTokensPlaceType = storedEnum('CachedTokensPlace', {
  description: 'Where cached tokens are counted.',
  values: {
    WITHIN: { value: 'within', description: 'Within the prompt’s count.' },
    BESIDE: { value: 'beside', description: 'Beside it.' },
    OVERLAPPING: {
      value: 'overlapping',
      description: 'Read and written within, even where the same tokens are in both.',
    },
  } as const,
});

const EffortSupportType = builder.enumType('EffortSupport', {
  description: 'Which models take an effort.',
  values: {
    NONE: { value: 'none', description: 'None.' },
    ALL: { value: 'all', description: 'Every one.' },
    NAMED: { value: 'named', description: 'Those whose catalog entry names efforts.' },
  } as const,
});

const effortSupport = (effort: UpstreamFeatures['effort']) => (effort === 'named' ? 'named' : effort ? 'all' : 'none');

const UpstreamFeaturesType = builder.objectRef<Partial<UpstreamFeatures>>('UpstreamFeatures').implement({
  description: 'What translation may use at an upstream; null: as its vendor or protocol has it.',
  authScopes: { operator: true },
  fields: (t) => ({
    maxTokensField: t.field({
      type: MaxTokensFieldType,
      nullable: true,
      description: 'The one name of the output cap that it takes.',
      resolve: ({ maxTokensField }) => maxTokensField ?? null,
    }),
    systemRole: t.field({
      type: SystemRoleType,
      nullable: true,
      description: 'How a system message in mid-conversation is sent.',
      resolve: ({ systemRole }) => systemRole ?? null,
    }),
    files: t.boolean({ nullable: true, description: 'Takes documents.', resolve: ({ files }) => files ?? null }),
    jsonObject: t.boolean({
      nullable: true,
      description: 'Takes a request for any JSON object.',
      resolve: ({ jsonObject }) => jsonObject ?? null,
    }),
    sampling: t.boolean({
      nullable: true,
      description: 'Takes temperature and the like.',
      resolve: ({ sampling }) => sampling ?? null,
    }),
    reasoningHistory: t.boolean({
      nullable: true,
      description: 'Takes earlier reasoning back.',
      resolve: ({ reasoningHistory }) => reasoningHistory ?? null,
    }),
    effort: t.field({
      type: EffortSupportType,
      nullable: true,
      description: 'Which models take an effort.',
      resolve: ({ effort }) => (effort === undefined ? null : effortSupport(effort)),
    }),
    store: t.boolean({
      nullable: true,
      description:
        'The vendor stores questions and answers unless a request says `store: false`; requests then say so.',
      resolve: ({ store }) => store ?? null,
    }),
    stop: t.boolean({ nullable: true, description: 'Takes stop sequences.', resolve: ({ stop }) => stop ?? null }),
    jsonSchema: t.boolean({
      nullable: true,
      description: 'Takes a schema of the answer.',
      resolve: ({ jsonSchema }) => jsonSchema ?? null,
    }),
    toolChoice: t.field({
      type: ToolChoiceSupportType,
      nullable: true,
      description: 'The strongest tool choice that binds.',
      resolve: ({ toolChoice }) => toolChoice ?? null,
    }),
    parallelCalls: t.boolean({
      nullable: true,
      description: 'Takes `parallel_tool_calls`.',
      resolve: ({ parallelCalls }) => parallelCalls ?? null,
    }),
    thinkingSwitch: t.boolean({
      nullable: true,
      description: 'Thinks unless told not to, and then takes no forced tool choice.',
      resolve: ({ thinkingSwitch }) => thinkingSwitch ?? null,
    }),
    shortCallIds: t.boolean({
      nullable: true,
      description: 'Wants ids of tool calls with nine letters or digits.',
      resolve: ({ shortCallIds }) => shortCallIds ?? null,
    }),
    callSignatures: t.boolean({
      nullable: true,
      description: 'Wants the signatures of tool calls back.',
      resolve: ({ callSignatures }) => callSignatures ?? null,
    }),
    imageUrls: t.boolean({
      nullable: true,
      description: 'Takes images by address.',
      resolve: ({ imageUrls }) => imageUrls ?? null,
    }),
    endUser: t.boolean({
      nullable: true,
      description: 'Takes a pseudonym of the end user.',
      resolve: ({ endUser }) => endUser ?? null,
    }),
    usageOption: t.boolean({
      nullable: true,
      description: 'Takes `stream_options`.',
      resolve: ({ usageOption }) => usageOption ?? null,
    }),
    traceContext: t.boolean({
      nullable: true,
      description: 'Is handed the trace of each request.',
      resolve: ({ traceContext }) => traceContext ?? null,
    }),
    webSocket: t.boolean({
      nullable: true,
      description: 'Takes turns of responses over a WebSocket.',
      resolve: ({ webSocket }) => webSocket ?? null,
    }),
    hostedTools: t.boolean({
      nullable: true,
      description: 'Tools that run at the vendor pass where their price is known.',
      resolve: ({ hostedTools }) => hostedTools ?? null,
    }),
    minOutputTokens: t.int({
      nullable: true,
      description: 'The smallest cap on the output that it takes.',
      resolve: ({ minOutputTokens }) => minOutputTokens ?? null,
    }),
    cachedTokens: t.field({
      type: CachedTokensPlaceType,
      nullable: true,
      description: 'Where cached tokens are counted.',
      resolve: ({ cachedTokens }) => cachedTokens ?? null,
    }),
  }),
});

const UpstreamHealthType = builder.objectRef<UpstreamHealth>('UpstreamHealth').implement({
  description: 'How an upstream has been doing lately.',
  authScopes: { operator: true },
  fields: (t) => ({
    consecutiveFailures: t.exposeInt('consecutiveFailures', { description: 'Failures since the last success.' }),
    ejected: t.exposeBoolean('ejected', { description: 'Whether it is left out for a while.' }),
    pausedKeys: t.exposeInt('pausedKeys', {
      description: 'Keys that are paused because the vendor refused or limited them.',
    }),
  }),
});

export const UpstreamType = builder.prismaNode('Upstream', {
  id: { field: 'id' },
  description: 'An endpoint where models run.',
  findUnique: (id, { principal }) => ({ id: isOperator(principal) ? id : noSuchId }),
  authScopes: { operator: true },
  fields: (t) => ({
    upstreamId: t.exposeString('id', { description: 'What operators call it.' }),
    protocol: t.field({
      type: ProtocolType,
      nullable: true,
      description: 'What it speaks.',
      select: { protocol: true },
      resolve: ({ protocol }) => protocol as 'messages' | 'chat-completions' | 'responses',
    }),
    baseUrl: t.exposeString('baseUrl', { description: 'Where it is.' }),
    onDisconnect: t.field({
      type: OnDisconnect,
      description: 'What happens when the client leaves.',
      select: { onDisconnect: true },
      resolve: ({ onDisconnect }) => (onDisconnect === 'drain' ? 'drain' : 'abort'),
    }),
    profile: t.exposeString('profile', {
      nullable: true,
      description: 'The vendor whose features and wordings are known; null: none of `vendorProfiles`.',
    }),
    recipient: t.exposeString('recipient', {
      nullable: true,
      description: 'Who receives the requests, as the operator says; null: as the profile says.',
    }),
    country: t.exposeString('country', {
      nullable: true,
      description: 'In which country (ISO 3166), as the operator says; null: as the profile says.',
    }),
    features: t.field({
      type: UpstreamFeaturesType,
      description: 'What translation may use there, where it differs from the vendor’s or the protocol’s defaults.',
      select: { features: true },
      resolve: ({ features }) => (features ?? {}) as Partial<UpstreamFeatures>,
    }),
    simulated: t.exposeBoolean('simulated', { description: 'Whether it is the built-in simulator.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is used.' }),
    keys: t.relation('keys', {
      description: 'Its keys; the secrets themselves are never shown.',
      query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
    }),
    routes: t.relation('routes', { description: 'Models that run there.', query: { orderBy: { modelId: 'asc' } } }),
    health: t.field({
      type: UpstreamHealthType,
      nullable: true,
      description: 'How it has been doing, as the process that answers sees it; null: nothing speaks against it.',
      select: { id: true },
      resolve: ({ id }, _args, { domains }) =>
        domains.upstreamHealth().find(({ upstreamId }) => upstreamId === id) ?? null,
    }),
  }),
});

builder.prismaObject('UpstreamKey', {
  description: 'A vendor’s key, sealed.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'For `deleteUpstreamKey`.' }),
    last4: t.exposeString('last4', { description: 'How it ends.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is used.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was given.' }),
  }),
});

const VendorEndpointType = builder.objectRef<VendorEndpoint & { protocol: Protocol }>('VendorEndpoint').implement({
  description: 'Where a vendor speaks one of the protocols.',
  authScopes: { operator: true },
  fields: (t) => ({
    protocol: t.expose('protocol', { type: ProtocolType, description: 'What it speaks there.' }),
    baseUrl: t.exposeString('baseUrl', { nullable: true, description: 'Its address; null: everybody has another.' }),
    features: t.field({
      type: UpstreamFeaturesType,
      description: 'What differs from the protocol’s defaults.',
      resolve: ({ features }) => features ?? {},
    }),
  }),
});

const QuirkType = builder.objectRef<Quirk>('VendorQuirk').implement({
  description: 'Something that a vendor does otherwise.',
  authScopes: { operator: true },
  fields: (t) => ({
    what: t.exposeString('what', { description: 'What it does.' }),
    source: t.exposeString('source', { description: 'The public page that says so.' }),
  }),
});

const VendorProfileType = builder.objectRef<VendorProfile>('VendorProfile').implement({
  description: 'What is known of a vendor.',
  authScopes: { operator: true },
  fields: (t) => ({
    profile: t.exposeString('id', { description: 'For `saveUpstream`.' }),
    displayName: t.exposeString('displayName', { description: 'As people know it.' }),
    keyVariable: t.exposeString('keyVariable', { nullable: true, description: 'The variable of its key.' }),
    endpoints: t.field({
      type: [VendorEndpointType],
      description: 'Where it speaks which protocol.',
      resolve: ({ protocols }) =>
        Object.entries(protocols).map(([protocol, endpoint]) => ({ ...endpoint, protocol: protocol as Protocol })),
    }),
    quirks: t.field({
      type: [QuirkType],
      description: 'What it does otherwise.',
      resolve: ({ quirks }) => [...quirks],
    }),
  }),
});

type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

/** The features that are on or off, or numbers. */
const plainFeatures = (t: InputFields) => ({
  files: t.boolean({ description: 'Takes documents.' }),
  jsonObject: t.boolean({ description: 'Takes a request for any JSON object.' }),
  sampling: t.boolean({ description: 'Takes temperature and the like.' }),
  reasoningHistory: t.boolean({ description: 'Takes earlier reasoning back.' }),
  effort: t.boolean({ description: 'Takes an effort.' }),
  store: t.boolean({
    description: 'The vendor stores questions and answers unless a request says `store: false`; requests then say so.',
  }),
  stop: t.boolean({ description: 'Takes stop sequences.' }),
  jsonSchema: t.boolean({ description: 'Takes a schema of the answer.' }),
  parallelCalls: t.boolean({ description: 'Takes `parallel_tool_calls`.' }),
  thinkingSwitch: t.boolean({ description: 'Thinks unless told not to, and then takes no forced tool choice.' }),
  shortCallIds: t.boolean({ description: 'Wants ids of tool calls with nine letters or digits.' }),
  callSignatures: t.boolean({ description: 'Wants the signatures of tool calls back.' }),
  imageUrls: t.boolean({ description: 'Takes images by address.' }),
  endUser: t.boolean({ description: 'Takes a pseudonym of the end user.' }),
  usageOption: t.boolean({ description: 'Takes `stream_options`.' }),
  traceContext: t.boolean({ description: 'Is handed the trace of each request.' }),
  webSocket: t.boolean({ description: 'Takes turns of responses over a WebSocket.' }),
  hostedTools: t.boolean({ description: 'Tools that run at the vendor pass where their price is known.' }),
  minOutputTokens: t.int({ description: 'The smallest cap on the output that it takes.' }),
});

const UpstreamFeaturesInput = builder.inputType('UpstreamFeaturesInput', {
  description: 'What translation may use at an upstream; what is left out has the vendor’s or the protocol’s default.',
  fields: (t) => ({
    maxTokensField: t.field({
      type: MaxTokensFieldType,
      description: 'The one name of the output cap that it takes.',
    }),
    systemRole: t.field({ type: SystemRoleType, description: 'How a system message in mid-conversation is sent.' }),
    toolChoice: t.field({ type: ToolChoiceSupportType, description: 'The strongest tool choice that binds.' }),
    cachedTokens: t.field({ type: CachedTokensPlaceType, description: 'Where cached tokens are counted.' }),
    ...plainFeatures(t),
  }),
});

const SaveUpstreamInput = builder.inputType('SaveUpstreamInput', {
  description: 'An upstream, new or known.',
  fields: (t) => ({
    upstreamId: t.string({ required: true, description: 'What operators call it.' }),
    protocol: t.field({ type: ProtocolType, required: true, description: 'What it speaks.' }),
    baseUrl: t.string({
      required: true,
      description: 'https; without `/v1` for messages, with it for the others. A private address is refused.',
    }),
    onDisconnect: t.field({ type: OnDisconnect, defaultValue: 'abort', description: 'When the client leaves.' }),
    profile: t.string({ description: 'The vendor, one of `vendorProfiles`; null: none of them; left out: as it was.' }),
    recipient: t.string({ description: 'Who receives the requests; null: as the profile says; left out: as it was.' }),
    country: t.string({ description: 'In which country (ISO 3166); null: as the profile says; left out: as it was.' }),
    features: t.field({ type: UpstreamFeaturesInput, description: 'What differs from the vendor.' }),
    enabled: t.boolean({ defaultValue: true, description: 'Whether it is used.' }),
    secret: t.string({
      description: 'Its key, in place of those it has: write-only. Needed again when the address moves elsewhere.',
    }),
  }),
});

const SetUpstreamEnabledInput = builder.inputType('SetUpstreamEnabledInput', {
  fields: (t) => ({
    upstreamId: t.string({ required: true, description: 'Which upstream.' }),
    enabled: t.boolean({ required: true, description: 'On or off.' }),
  }),
});

const AddUpstreamKeyInput = builder.inputType('AddUpstreamKeyInput', {
  fields: (t) => ({
    upstreamId: t.string({ required: true, description: 'Which upstream.' }),
    secret: t.string({ required: true, description: 'The key.' }),
  }),
});

builder.mutationFields((t) => ({
  saveUpstream: t.prismaField({
    type: UpstreamType,
    description: 'Creates or changes an upstream.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: { input: t.arg({ type: SaveUpstreamInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const { upstreamId, secret, profile, recipient, country, features, ...rest } = input;
      const outcome = await context.domains.catalogChanges.saveUpstream(
        {
          id: upstreamId,
          ...given(rest),
          // Clients that do not know of vendors leave the upstream's as it is.
          ...(profile === undefined ? {} : { profile }),
          ...(recipient === undefined ? {} : { recipient }),
          ...(country === undefined ? {} : { country }),
          features: given(features ?? {}),
        },
        secret ?? null,
        actorOf(context.principal),
      );
      throwCatalogRefusal(outcome, ['input'], { id: ['input', 'upstreamId'] });
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
  setUpstreamEnabled: t.prismaField({
    type: UpstreamType,
    description: 'Switches an upstream on or off. Running requests finish.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: {
      input: t.arg({ type: SetUpstreamEnabledInput, required: true }),
    },
    resolve: async (query, _root, { input: args }, context) => {
      const upstreamId = named('Upstream', args.upstreamId);
      const ask = { upstreamId, enabled: args.enabled };
      throwCatalogRefusal(await context.domains.catalogChanges.switchUpstream(ask, actorOf(context.principal)));
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
  addUpstreamKey: t.prismaField({
    type: UpstreamType,
    description: 'Adds a key beside those that an upstream has: the load is spread over them. Write-only.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: { input: t.arg({ type: AddUpstreamKeyInput, required: true }) },
    resolve: async (query, _root, { input: args }, context) => {
      const upstreamId = named('Upstream', args.upstreamId);
      const ask = { upstreamId, secret: args.secret };
      throwCatalogRefusal(await context.domains.catalogChanges.addKey(ask, actorOf(context.principal)));
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
  deleteUpstreamKey: t.prismaField({
    type: UpstreamType,
    description: 'Deletes a key of an upstream.',
    authScopes: { trustedOperator: true },
    errors: { types: changeErrors },
    args: {
      upstreamId: t.arg.string({ required: true }),
      keyId: t.arg.id({ required: true }),
    },
    resolve: async (query, _root, args, context) => {
      const upstreamId = named('Upstream', args.upstreamId);
      const ask = { upstreamId, keyId: args.keyId };
      throwCatalogRefusal(await context.domains.catalogChanges.deleteKey(ask, actorOf(context.principal)), []);
      return context.prisma.upstream.findUniqueOrThrow({ ...query, where: { id: upstreamId } });
    },
  }),
}));

builder.objectFields(OperatorType, (t) => ({
  vendorProfiles: t.field({
    type: [VendorProfileType],
    description: 'The vendors that an upstream can name.',
    resolve: () => Object.values(vendorProfiles),
  }),
  upstreams: t.prismaField({
    type: [UpstreamType],
    description: 'Every upstream.',
    resolve: (query, _operator, _args, { prisma }) => prisma.upstream.findMany({ ...query, orderBy: { id: 'asc' } }),
  }),
}));
