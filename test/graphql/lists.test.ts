/**
 * No list ends in silence: a field that answers with a list of objects is a connection, or has a bound by its nature, which
 * stands here. A new list is in neither until somebody has decided.
 */

import { getNamedType, getNullableType, isListType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { buildSchema } from '../../server/graphql/schema.ts';

const boundedBy: Readonly<Record<string, readonly string[]>> = {
  'a limit at which another one is refused': [
    'Account.invitations',
    'Account.members',
    'Account.memberSpend',
    'Account.noticeChannels',
    'Account.projects',
    'Account.webhookEndpoints',
    'Operator.noticeChannels',
    'Query.bonusSteps',
    'TopUpSaved.bonusSteps',
    'Viewer.passkeys',
  ],
  'a number that its description says, with the place of the rest': [
    'Budget.grants',
    'CatalogEntry.priceVersions',
    'FoundVendor.models',
    'Operator.operators',
    'Operator.search',
    'Viewer.sessions',
  ],
  'the calendar: months, days, or the range that was asked for': [
    'Account.archivedMonths',
    'Account.latency',
    'Operator.failures',
    'Account.statements',
    'MemberSpend.months',
    'ModelStatus.days',
    'Operator.bookTaxes',
    'Operator.closedMonths',
    'Operator.exchangeRates',
    'Project.months',
    'Query.uptime',
    'ServiceStatus.absences',
    'ServiceStatus.announcements',
    'ServiceStatus.incidents',
    'ServiceStatus.observers',
  ],
  'the catalog, which operators write by hand': [
    'Business.failingUpstreams',
    'CatalogEntry.routes',
    'ModelStatus.requests',
    'ModelStatus.ways',
    'Operator.models',
    'Operator.plans',
    'Operator.probeAgents',
    'Operator.upstreams',
    'Operator.vendorBills',
    'Probing.models',
    'Query.models',
    'Query.plans',
    'ServiceStatus.models',
    'Upstream.keys',
    'Upstream.routes',
    'VendorComparisonConnection.totals',
  ],
  'the price that it is of': [
    'ImagePrices.each',
    'PriceClock.windows',
    'PriceVariant.tiers',
    'PriceWindow.tiers',
    'Prices.tiers',
    'Prices.variants',
  ],
  'the one request, order, notice or incident that it is of': [
    'Announcement.updates',
    'BankTransfer.proposals',
    'Estimate.bound',
    'Incident.affectedWays',
    'Incident.updates',
    'LedgerEntry.lines',
    'LedgerEntry.receipt',
    'LedgerEntry.units',
    'MonthPreview.imbalances',
    'Notice.deliveries',
    'Operator.invariants',
    'Order.creditNotes',
    'Order.payments',
    'RunLine.receipt',
    'WebhookDelivery.attempts',
  ],
  'what the person did: accounts joined, accounts linked, keys left undecided': [
    'KeysUndecidedError.keys',
    'Viewer.accounts',
    'Viewer.identities',
  ],
  'the source of this version': [
    'InputError.problems',
    'JournalAccountsSaved.accounts',
    'Operator.journalAccounts',
    'Operator.settings',
    'Operator.setup',
    'Operator.vendorProfiles',
    'Operator.vendors',
    'SettingsOfGroup.refusals',
    'SettingsOfGroup.settings',
    'SignInMethods.providers',
    'Vendor.models',
    'VendorProfile.endpoints',
    'VendorProfile.quirks',
  ],
};

it('every list of the schema is a connection, or bounded by its nature', () => {
  const lists = Object.values(buildSchema().getTypeMap()).flatMap((type) => {
    if (!isObjectType(type) || type.name.startsWith('__')) return [];
    const isConnection = type.name.endsWith('Connection') && 'pageInfo' in type.getFields();
    return Object.values(type.getFields())
      .filter(({ name, type: of }) => {
        const isPage = isConnection && (name === 'edges' || name === 'nodes');
        return !isPage && isListType(getNullableType(of)) && isObjectType(getNamedType(of));
      })
      .map(({ name }) => `${type.name}.${name}`);
  });
  expect(lists.length).toBeGreaterThan(50);
  expect(lists.toSorted()).toEqual(Object.values(boundedBy).flat().toSorted());
});
