import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createParties } from '../../server/plans/papers/parties.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

// The parties of a sale: rules of what papers may say.

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const empty = {
  name: '',
  taxCode: '',
  address: '',
  supportEmail: '',
  supportPhone: '',
  termsUrl: '',
  privacyUrl: '',
  refundUrl: '',
};

describe('the seller', () => {
  it('is empty until it is given, replaced as a whole, and audited', async () => {
    const parties = createParties({ pool: database.pool });
    expect(await parties.seller()).toEqual(empty);
    const seller = { ...empty, name: 'CÔNG TY TNHH STEYG', taxCode: '0312345673', supportEmail: 'help@steyg.example' };
    expect(await parties.saveSeller({ seller, actor: 'user:1' })).toEqual({ kind: 'saved', seller });
    expect(await parties.seller()).toEqual(seller);
    await parties.saveSeller({ seller: empty, actor: 'user:1' });
    expect(await parties.seller()).toEqual(empty);
    const { rows } = await database.pool.query(`SELECT count(*) AS n FROM audit_entry WHERE action = 'seller.save'`);
    expect(rows).toEqual([{ n: 2n }]);
  });

  it.each([
    ['taxCode', '031234567'],
    ['taxCode', '0312345673-01'],
    // The check digit of 031234567 is 3; one digit differs, two digits have changed places, and in a dependent unit.
    ['taxCode', '0312345678'],
    ['taxCode', '0313245673'],
    ['taxCode', '0312345678-001'],
    ['supportEmail', 'nobody'],
    ['supportPhone', '<b>1</b>'],
    ['termsUrl', 'javascript:alert(1)'],
    ['privacyUrl', 'ftp://steyg.example/'],
    ['refundUrl', '/refund'],
    ['name', 'a\u0000b'],
  ])('refuses %s %s', async (field, value) => {
    const parties = createParties({ pool: database.pool });
    const outcome = await parties.saveSeller({ seller: { ...empty, [field]: value }, actor: 'user:1' });
    expect(outcome).toMatchObject({ kind: 'invalid', field });
  });
});

// Published ones, of https://github.com/arthurdejong/python-stdnum (stdnum/vn/mst.py), and of a person's identity card.
it.each(['0100233488', '0314409058-002', '0100112437', '0312687878-001', '001099012345', ''])(
  'takes the tax code %s',
  async (taxCode) => {
    const parties = createParties({ pool: database.pool });
    const outcome = await parties.saveSeller({ seller: { ...empty, taxCode }, actor: 'user:1' });
    expect(outcome.kind).toBe('saved');
  },
);

describe('the company of an account', () => {
  it('is kept for its account alone and removed again', async () => {
    const parties = createParties({ pool: database.pool });
    const accounts = ['01a20000-0000-7000-8000-000000000001', '01a20000-0000-7000-8000-000000000002'];
    for (const id of accounts)
      await database.pool.query(`INSERT INTO account (id, name, email) VALUES ($1, 'Test', $2)`, [
        id,
        `${id}@example.com`,
      ]);
    const [accountId = ''] = accounts;
    const company = { name: 'CÔNG TY CỔ PHẦN ABC', taxCode: '0312345673-001', address: 'Quận 1, TP. HCM' };
    await parties.saveCompany({ accountId, company, actor: 'user:1' });
    expect(await parties.companies(accounts)).toEqual(new Map([[accountId, company]]));
    expect(
      await parties.saveCompany({ accountId, company: { ...company, taxCode: 'MST 1' }, actor: 'user:1' }),
    ).toMatchObject({ kind: 'invalid', field: 'taxCode' });
    await parties.saveCompany({ accountId, company: null, actor: 'user:1' });
    expect(await parties.companies(accounts)).toEqual(new Map());
  });
});
