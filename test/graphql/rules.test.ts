import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildSchema } from '../../server/graphql/schema.ts';

// What the schema promises integrators, walked over everything that is not deprecated: a new field that breaks a rule
// fails here. The exceptions say why they are none.

const schema = buildSchema();

interface Place {
  /** `Type.field`, or `Type.field(argument)`. */
  name: string;
  member: string;
  type: GraphQLType;
  description: string;
  isInput: boolean;
}

/** Everything that clients reach without using anything deprecated. */
function currentPlaces(): { places: Place[]; fields: { name: string; field: GraphQLField<unknown, unknown> }[] } {
  const places: Place[] = [];
  const fields: { name: string; field: GraphQLField<unknown, unknown> }[] = [];
  const seen = new Set<GraphQLNamedType>();
  const roots = ['Query', 'Mutation', 'Subscription'].map((name) => schema.getType(name));
  const open: GraphQLNamedType[] = roots.filter((type) => type !== undefined);
  const note = (
    name: string,
    { name: member, type, description }: GraphQLInputField | GraphQLField<unknown, unknown>,
    isInput: boolean,
  ) => {
    places.push({ name, member, type, description: description ?? '', isInput });
    open.push(getNamedType(type));
  };
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (seen.has(type)) continue;
    seen.add(type);
    if (isUnionType(type)) open.push(...type.getTypes());
    if (isInterfaceType(type)) open.push(...schema.getPossibleTypes(type));
    if (!isObjectType(type) && !isInputObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.deprecationReason != null) continue;
      note(`${type.name}.${field.name}`, field, isInputObjectType(type));
      if (!('args' in field)) continue;
      fields.push({ name: `${type.name}.${field.name}`, field });
      for (const argument of field.args) {
        if (argument.deprecationReason != null) continue;
        const { name, description } = argument;
        const argumentType: GraphQLType = argument.type;
        places.push({
          name: `${type.name}.${field.name}(${name})`,
          member: name,
          type: argumentType,
          description: description ?? '',
          isInput: true,
        });
        open.push(getNamedType(argumentType));
      }
    }
  }
  return { places, fields };
}

/** Lists that are no connections, by what keeps them short. */
const short: Record<string, string[]> = {
  'parts of one object': [
    'Announcement.updates',
    'BankTransfer.proposals',
    'Budget.grants',
    'CatalogEntry.priceVersions',
    'CatalogEntry.routes',
    'Estimate.bound',
    'ImagePrices.each',
    'Incident.affectedWays',
    'Incident.updates',
    'InputError.problems',
    'LedgerEntry.lines',
    'LedgerEntry.receipt',
    'LedgerEntry.units',
    'RunLine.receipt',
    'PriceVariant.tiers',
    'ModelStatus.days',
    'ModelStatus.requests',
    'ModelStatus.ways',
    'Notice.deliveries',
    'Order.creditNotes',
    'Order.payments',
    'PriceClock.windows',
    'PriceWindow.tiers',
    'Probing.models',
    'Prices.tiers',
    'Prices.variants',
    'SettingsOfGroup.refusals',
    'TopUpSaved.bonusSteps',
    'Upstream.keys',
    'Upstream.routes',
    'FoundVendor.models',
    'Vendor.models',
    'VendorProfile.endpoints',
    'VendorProfile.quirks',
    'WebhookDelivery.attempts',
  ],
  'a limit of an account or a person': [
    'Account.invitations',
    'Account.memberSpend',
    'Account.members',
    'Account.noticeChannels',
    'Account.projects',
    'Account.webhookEndpoints',
    'Viewer.accounts',
    'Viewer.identities',
    'Viewer.passkeys',
    'Viewer.sessions',
  ],
  'one element a month, or a range that is given': [
    'Account.archivedMonths',
    'Account.latency',
    'MemberSpend.months',
    'MonthPreview.imbalances',
    'Operator.closedMonths',
    'Operator.exchangeRates',
    'Operator.failures',
    'Project.months',
    'Query.uptime',
    'ServiceStatus.absences',
    'ServiceStatus.announcements',
    'ServiceStatus.incidents',
    'ServiceStatus.observers',
  ],
  'what the operator has set up': [
    'Operator.settings',
    'SettingsOfGroup.settings',
    'Business.failingUpstreams',
    'JournalAccountsSaved.accounts',
    'Operator.bookTaxes',
    'Operator.journalAccounts',
    'Operator.models',
    'Operator.noticeChannels',
    'Operator.operators',
    'Operator.plans',
    'Operator.probeAgents',
    'Operator.setup',
    'Operator.upstreams',
    'VendorComparisonConnection.totals',
    'Operator.vendorBills',
    'Operator.vendorProfiles',
    'Operator.vendors',
    'Query.bonusSteps',
    'Query.models',
    'Query.plans',
    'ServiceStatus.models',
    'SignInMethods.providers',
  ],
  'the best of what was found': ['KeysUndecidedError.keys', 'Operator.invariants', 'Operator.search'],
};

/** One element a month, of which the newest are asked for: a decade is one page. */
const byMonth = ['Account.statements'];

const { places, fields } = currentPlaces();
const typeOf = ({ type }: Pick<Place, 'type'>) => getNamedType(type).name;
const isListed = (type: GraphQLType) => isListType(getNullableType(type));

describe('every word of a closed set', () => {
  /** Texts that are named like an enum and are none. */
  const free = new Set([
    // What entries of the audit log say outlives the versions that wrote them.
    'AuditEntry.action',
    'Operator.auditLog(actions)',
    // Anything that an operator writes for people; what programs may rely on is `modelCapabilities`.
    'CatalogEntry.capabilities',
    'Model.capabilities',
    'SaveModelInput.capabilities',
    // A public page.
    'Vendor.source',
    'VendorQuirk.source',
    // An id that the operator’s settings give.
    'Identity.provider',
    // A reason that a person writes.
    'EndGrantInput.reason',
    'GiveGrantInput.reason',
    'Grant.reason',
    'RevokeKeyInput.reason',
    'SetAccountStatusInput.reason',
    // Hours of the day, as `HH:MM-HH:MM`; a month, or a day.
    'PriceHours.period',
    'ExchangeRate.period',
    'SetExchangeRateInput.period',
    // Who publishes a rate.
    'ExchangeRate.source',
    'SetExchangeRateInput.source',
    // A page of the vendor's.
    'Vendor.keys',
    // The code that the model API would answer, open like those of vendors.
    'RequestRefusedError.reason',
    // Says a status of HTTP among others.
    'ProbedWay.reason',
  ]);
  const words = [
    'locale',
    'action',
    'actions',
    'event',
    'events',
    'unit',
    'units',
    'pool',
    'scope',
    'provider',
    'days',
    'efforts',
    'capabilities',
  ];
  const enumNames = new Set([
    ...places.filter((place) => isEnumType(getNamedType(place.type))).map(({ member }) => member),
    ...words,
  ]);

  it('is an enum: no text is named like one', () => {
    expect(enumNames.size).toBeGreaterThan(40);
    const texts = places.filter((place) => typeOf(place) === 'String' && enumNames.has(place.member));
    expect(texts.map(({ name }) => name).filter((name) => !free.has(name))).toEqual([]);
  });

  it('is an enum: no text is described as one word or another', () => {
    const described = places.filter(
      (place) => typeOf(place) === 'String' && /`[\w-]+`(?:, `[\w-]+`)* or `[\w-]+`/.test(place.description),
    );
    /** Arguments of links, ids of any kind, members of documents of others. */
    const known = new Set([
      'AuditEntry.actor',
      'PasskeyOptions.json',
      'CreateOrderInput.planId',
      'CreditTransferInput.planId',
      'Order.receiptUrl',
      'Statement.url',
    ]);
    expect(described.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('every mutation', () => {
  const mutations = fields.filter(({ name }) => name.startsWith('Mutation.'));

  it('answers with a union of an object and errors', () => {
    expect(mutations.length).toBeGreaterThan(90);
    for (const { name, field } of mutations) {
      const type = getNamedType(field.type);
      const members = isUnionType(type) ? type.getTypes().map((each) => each.name) : [];
      expect({ name, errors: members.filter((each) => each.endsWith('Error')).length > 0 }).toEqual({
        name,
        errors: true,
      });
      expect({ name, objects: members.filter((each) => !each.endsWith('Error')) }).toEqual({
        name,
        objects: [expect.any(String)],
      });
    }
  });
});

describe('every error', () => {
  it('says its code, its sentence and its request', () => {
    const type = schema.getType('Error');
    expect(isInterfaceType(type) && Object.keys(type.getFields()).sort()).toEqual(['code', 'message', 'requestId']);
  });
});

describe('every amount of money', () => {
  const scalars = new Set(['UsdAmount', 'VndAmount']);
  /** Also names of counts, and of times that limits are named after. */
  const counted = new Set([
    'input',
    'output',
    'cacheHit',
    'cacheWrite',
    'cacheWrite5m',
    'cacheWrite1h',
    'search',
    'used',
    'day',
    'month',
  ]);
  const amounts = new Set(places.filter((place) => scalars.has(typeOf(place))).map(({ member }) => member));
  const numbers = new Set(['String', 'Int', 'Float', 'BigInt']);

  it('is of the scalar of its currency', () => {
    expect(amounts.size).toBeGreaterThan(60);
    const others = places.filter(
      (place) =>
        numbers.has(typeOf(place)) &&
        ((amounts.has(place.member) && !counted.has(place.member)) ||
          /(?:[a-z]Usd|[a-z]Vnd|^usd|^vnd)$/.test(place.member)),
    );
    /** Shares of a price, counts of steps, of groups and of lines. */
    const known = new Set([
      'Account.usage(most)',
      'Batch.expired',
      'BookTaxes.foreignVat',
      'Model.agentStepsFor5Usd',
      'Model.markedAgentStepsFor5Usd',
      'SetBookTaxesInput.foreignVat',
    ]);
    expect(others.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  });

  it('says no currency in words only', () => {
    const texts = places.filter(
      (place) => ['String', 'BigInt', 'Float'].includes(typeOf(place)) && /\bin (?:USD|VND)\b/.test(place.description),
    );
    expect(texts.map(({ name }) => name)).toEqual([]);
  });
});

describe('every list of objects', () => {
  const lists = fields.filter(
    ({ field }) =>
      isListed(field.type) && !isEnumType(getNamedType(field.type)) && !('parseValue' in getNamedType(field.type)),
  );

  it('that has a size or a cursor is a connection', () => {
    const paged = fields.filter(({ field }) => field.args.some(({ name }) => ['first', 'after'].includes(name)));
    expect(paged.length).toBeGreaterThan(15);
    const others = paged.filter(({ field }) => {
      const type = getNamedType(field.type);
      return !isObjectType(type) || type.getFields()['pageInfo'] === undefined;
    });
    expect(others.map(({ name }) => name)).toEqual(byMonth);
  });

  it('that is none stays short by itself', () => {
    const whole = lists
      .map(({ name }) => name)
      .filter((name) => !/\.(?:edges|nodes)$/.test(name) && !byMonth.includes(name));
    expect(whole.filter((name) => !Object.values(short).flat().includes(name))).toEqual([]);
    expect(
      Object.values(short)
        .flat()
        .filter((name) => !whole.includes(name)),
    ).toEqual([]);
  });
});

describe('every link', () => {
  it('is the object, not its id', () => {
    const ids = places.filter((place) => !place.isInput && typeOf(place) === 'ID' && place.member !== 'id');
    /** Ids that are handed on as they are, of things that no object stands for or that may be of any kind. */
    const handles = new Set([
      'SearchHit.accountId',
      'CodeRedeemed.grantId',
      'KeyMaker.memberId',
      'MemberSpend.memberId',
      'VendorModel.routeId',
    ]);
    expect(ids.map(({ name }) => name).filter((name) => !handles.has(name))).toEqual([]);
  });
});
