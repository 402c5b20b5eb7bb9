import { defaultFieldResolver, type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql';
import { type ControlPrincipal, type OperatorRole, operatorRoleOf } from '../../people/principal.ts';
import type { GraphqlContext } from '../context.ts';
import { transportError } from '../types/errors.ts';

/**
 * What each role of an operator may do and see, in one table. A field for operators that stands nowhere here is not
 * served (`holdOperatorRoles`): nobody forgets to decide.
 */

const everyone: readonly OperatorRole[] = ['owner', 'finance', 'support'];
const money: readonly OperatorRole[] = ['owner', 'finance'];
const owners: readonly OperatorRole[] = ['owner'];

const mutations = {
  // To explain: what helps a customer at once, and moves no money.
  addAccountNote: everyone,
  addStatusUpdate: everyone,
  announce: everyone,
  beginAccountView: everyone,
  endAnnouncement: everyone,
  revokeKey: everyone,
  // Money in and out, and its papers.
  closeModelMismatch: money,
  closeMonth: money,
  closeTransferReview: money,
  createBookPaperDownload: money,
  createBooksDownload: money,
  createCodes: money,
  creditTransfer: money,
  endGrant: money,
  giveGrant: money,
  importVendorUsage: money,
  matchTransfer: money,
  openAccount: money,
  payRefund: money,
  recordTransfer: money,
  refundOrder: money,
  refundTransfer: money,
  retryInvoice: money,
  revokeCodes: money,
  saveBonusSteps: money,
  saveJournalAccounts: money,
  savePlan: money,
  saveTopUp: money,
  setAccountLimits: money,
  setAccountStatus: money,
  setBookTaxes: money,
  setExchangeRate: money,
  undoRefund: money,
  undoTransferMatch: money,
  undoVendorImport: money,
  // What the service is, sells and trusts.
  addUpstreamKey: owners,
  addUpstreamModels: owners,
  addVendor: owners,
  createBusinessChannel: owners,
  createProbeAgent: owners,
  deleteBusinessChannel: owners,
  deleteUpstreamKey: owners,
  discoverVendor: owners,
  eraseAccount: owners,
  revokeProbeAgent: owners,
  saveModel: owners,
  savePrices: owners,
  saveProbing: owners,
  saveSeller: owners,
  saveSettings: owners,
  saveUpstream: owners,
  setModelEnabled: owners,
  setOperator: owners,
  setRoutes: owners,
  setUpstreamEnabled: owners,
  testBusinessChannel: owners,
  testRoute: owners,
  testSettings: owners,
  testVendorKey: owners,
  updateBusinessChannel: owners,
  updateBusinessNoticeSettings: owners,
} as const satisfies Record<string, readonly OperatorRole[]>;

/** What operators can be allowed to do: the names of mutations. */
export type OperatorMutation = keyof typeof mutations;

/** Customers do these to their own accounts: the resolver asks `mayOperate` where an operator does them to another's. */
const alsoOfCustomers: ReadonlySet<string> = new Set<OperatorMutation>(['eraseAccount', 'setAccountLimits']);

/** The fields of `Operator`, and who reads them. */
const reads: Readonly<Record<string, readonly OperatorRole[]>> = {
  account: everyone,
  allowedMutations: everyone,
  accounts: everyone,
  anomalies: everyone,
  auditLog: everyone,
  bankTransfers: everyone,
  business: everyone,
  codeBatches: everyone,
  codeRedemptions: everyone,
  failures: everyone,
  holds: everyone,
  invariants: everyone,
  invoiceProblems: everyone,
  modelMismatches: everyone,
  models: everyone,
  notices: everyone,
  operators: everyone,
  orders: everyone,
  plans: everyone,
  probeAgents: everyone,
  probing: everyone,
  refundQuote: everyone,
  refunds: everyone,
  role: everyone,
  search: everyone,
  setup: everyone,
  shortfalls: everyone,
  timeline: everyone,
  upstreams: everyone,
  vendorProfiles: everyone,
  vendors: everyone,
  // What the service earns, and its books.
  bookTaxes: money,
  closedMonths: money,
  exchangeRates: money,
  journalAccounts: money,
  margins: money,
  nextMonthToClose: money,
  revenue: money,
  vendorBills: money,
  vendorComparison: money,
  vendorFiles: money,
  noticeChannels: owners,
  noticeSettings: owners,
  settings: owners,
};

/** Single facts within what everybody reads, each null to the others: what vendors cost. */
const facts: Readonly<Record<string, readonly OperatorRole[]>> = {
  'LedgerEntryOperator.margin': money,
  'LedgerEntryOperator.upstreamCost': money,
  'Route.costs': money,
};

/** What an operator of that role may do, in the order of the alphabet. */
export function mutationsOf(role: OperatorRole): OperatorMutation[] {
  return (Object.keys(mutations) as OperatorMutation[]).filter((name) => isIn(mutations[name], role)).sort();
}

/** Whether the principal is an operator whose role allows this. */
export function mayOperate(principal: ControlPrincipal, name: OperatorMutation): boolean {
  const role = operatorRoleOf(principal);
  return role !== null && isIn(mutations[name], role);
}

const isIn = (allowed: readonly OperatorRole[], role: OperatorRole) => allowed.includes(role);

/** Holds every field for operators to its row of the table. Throws where a field has none, or a row no field. */
export function holdOperatorRoles(schema: GraphQLSchema): void {
  const faults = [
    ...holdFields(schema, 'Mutation', mutations, isForOperators),
    ...holdFields(schema, 'Operator', reads, () => true),
  ];
  for (const [place, allowed] of Object.entries(facts)) {
    const [typeName = '', fieldName = ''] = place.split('.');
    const type = schema.getType(typeName);
    const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
    if (field === undefined) faults.push(`${place} is no field`);
    else answerNull(field, allowed);
  }
  if (faults.length > 0) throw new Error(`Roles of operators: ${faults.join(', ')}`);
}

type Field = GraphQLField<unknown, GraphqlContext>;

function holdFields(
  schema: GraphQLSchema,
  typeName: string,
  table: Readonly<Record<string, readonly OperatorRole[]>>,
  isHeld: (field: Field) => boolean,
): string[] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`the schema has no ${typeName}`);
  const faults: string[] = [];
  const known = new Map(Object.entries(table));
  for (const field of Object.values(type.getFields())) {
    const allowed = known.get(field.name);
    known.delete(field.name);
    if (allowed !== undefined && !(typeName === 'Mutation' && alsoOfCustomers.has(field.name))) refuse(field, allowed);
    else if (allowed === undefined && isHeld(field)) faults.push(`${typeName}.${field.name} has none`);
  }
  return [...faults, ...[...known.keys()].map((name) => `${typeName}.${name} is no field`)];
}

/** Whether a mutation's rule admits operators alone. */
function isForOperators({ extensions }: Field): boolean {
  const rule = (extensions as { pothosOptions?: { authScopes?: unknown } }).pothosOptions?.authScopes;
  return /"(?:trusted)?[oO]perator":true/.test(JSON.stringify(rule) ?? '');
}

/** Before anything else of the field runs; who is no operator meets the field's own rule. */
function refuse(field: Field, allowed: readonly OperatorRole[]): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = (parent, args, context, info) => {
    const role = operatorRoleOf(context.principal);
    if (role !== null && !isIn(allowed, role)) throw roleRefusal(role, allowed);
    return resolve(parent, args, context, info);
  };
}

function answerNull(field: Field, allowed: readonly OperatorRole[]): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = (parent, args, context, info) => {
    const role = operatorRoleOf(context.principal);
    return role !== null && !isIn(allowed, role) ? null : resolve(parent, args, context, info);
  };
}

/** The refusal of what takes another role: it says which. */
function roleRefusal(role: OperatorRole, allowed: readonly OperatorRole[]) {
  return transportError(
    'OPERATOR_ROLE',
    `Your role as an operator (${role}) does not allow this; ${allowed.join(' or ')} does.`,
    { role, allowed },
  );
}
