import { actorOf } from '../../people/principal.ts';
import type { Company, Seller } from '../../plans/papers/parties.ts';
import { decodeUuid, requireAbility } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { InputError, NotAllowedError, NotFoundError, refuseInput } from '../types/errors.ts';
import { AccountType } from './accounts.ts';

/** The parties of a sale on papers and pages: the seller's details, and the companies that accounts buy for. */

const CompanyType = builder.objectRef<Company>('Company').implement({
  description: 'The company that an account buys for, as receipts name it.',
  authScopes: { public: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    taxCode: t.exposeString('taxCode', { description: 'Its tax code (MST); empty: none is given.' }),
    address: t.exposeString('address', { description: 'Its address; empty: none is given.' }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  company: t.loadable({
    type: CompanyType,
    nullable: true,
    description: 'The company that the account buys for, as receipts name it; null: a person.',
    load: async (ids: string[], { domains }: GraphqlContext) => {
      const companies = await domains.parties.companies(ids);
      return ids.map((id) => companies.get(id) ?? null);
    },
    resolve: ({ id }: { id: string }) => id,
  }),
}));

const SellerType = builder.objectRef<Seller>('Seller').implement({
  description: 'The seller of the budget, and where customers find help and terms. Empty: not given.',
  authScopes: { public: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The seller’s name.' }),
    taxCode: t.exposeString('taxCode', { description: 'The seller’s tax code (MST).' }),
    address: t.exposeString('address', { description: 'The seller’s address.' }),
    supportEmail: t.exposeString('supportEmail', { description: 'Where to write for help.' }),
    supportPhone: t.exposeString('supportPhone', { description: 'Where to call for help.' }),
    termsUrl: t.exposeString('termsUrl', { description: 'Terms of use.' }),
    privacyUrl: t.exposeString('privacyUrl', { description: 'Privacy policy.' }),
    refundUrl: t.exposeString('refundUrl', { description: 'Refund policy.' }),
  }),
});

builder.queryField('seller', (t) =>
  t.field({
    type: SellerType,
    description: 'The seller, and where customers find help and terms.',
    authScopes: { public: true },
    resolve: (_root, _args, { domains }) => domains.parties.seller(),
  }),
);

const CompanyInput = builder.inputType('CompanyInput', {
  description: 'The company that an account buys for.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name.' }),
    taxCode: t.string({ description: 'Its tax code (MST): 10 digits, 10 and 3 with a hyphen, or 12.' }),
    address: t.string({ description: 'Its address.' }),
  }),
});

const SellerInput = builder.inputType('SellerInput', {
  description: 'The seller. What is left out is empty.',
  fields: (t) => ({
    name: t.string({ description: 'The seller’s name.' }),
    taxCode: t.string({ description: 'The seller’s tax code (MST).' }),
    address: t.string({ description: 'The seller’s address.' }),
    supportEmail: t.string({ description: 'Where to write for help.' }),
    supportPhone: t.string({ description: 'Where to call for help.' }),
    termsUrl: t.string({ description: 'Web address of the terms of use.' }),
    privacyUrl: t.string({ description: 'Web address of the privacy policy.' }),
    refundUrl: t.string({ description: 'Web address of the refund policy.' }),
  }),
});

const SetCompanyInput = builder.inputType('SetCompanyInput', {
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'Which account.' }),
    company: t.field({ type: CompanyInput, description: 'The company; left out: none, it buys for a person.' }),
  }),
});

/** Saves the company of an account; the id of the account in the database. `below`: where the company stands. */
async function setCompany(
  context: GraphqlContext,
  { accountId, company, below }: { accountId: string; company: CompanyValues | null; below: string[] },
): Promise<string> {
  const id = decodeUuid('Account', accountId);
  if (id === null) throw new NotFoundError('account');
  requireAbility(context, id, 'billing');
  const outcome = await context.domains.parties.saveCompany({
    accountId: id,
    company: company && { name: company.name, taxCode: company.taxCode ?? '', address: company.address ?? '' },
    actor: actorOf(context.principal),
  });
  if (outcome.kind === 'invalid') return refuseInput(outcome, {}, below);
  return id;
}

type CompanyValues = typeof CompanyInput.$inferInput;

builder.mutationFields((t) => ({
  setCompany: t.prismaField({
    type: AccountType,
    description: 'Says for which company an account buys: its receipts name it. Without `company`: for a person.',
    authScopes: { billing: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError] },
    args: { input: t.arg({ type: SetCompanyInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const { accountId, company = null } = input;
      const id = await setCompany(context, { accountId, company, below: ['input', 'company'] });
      return context.prisma.account.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  saveSeller: t.field({
    type: SellerType,
    description: 'Replaces the seller’s details, which appear on every page and on receipts.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: SellerInput, required: true }) },
    resolve: async (_root, { input }, { domains, principal }) => {
      const outcome = await domains.parties.saveSeller({
        seller: {
          name: input.name ?? '',
          taxCode: input.taxCode ?? '',
          address: input.address ?? '',
          supportEmail: input.supportEmail ?? '',
          supportPhone: input.supportPhone ?? '',
          termsUrl: input.termsUrl ?? '',
          privacyUrl: input.privacyUrl ?? '',
          refundUrl: input.refundUrl ?? '',
        },
        actor: actorOf(principal),
      });
      return outcome.kind === 'invalid' ? refuseInput(outcome) : outcome.seller;
    },
  }),
}));
