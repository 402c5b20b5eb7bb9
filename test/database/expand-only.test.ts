import { describe, expect, it } from 'vitest';
import { readMigrations } from '../../server/database/migrate.ts';
import { findBreaches } from './expand-only.ts';

/** Every migration leaves the previous version of the server working: it runs beside the new one, and after a step back. */

/** The last migration of version 0.1.0, from which on versions overlap. */
const lastOfFirstVersion = '20261121160000_model_efforts';

/** What the previous version can live with all the same, and why: the beginning of the statement and the reason. */
const justified: Record<string, Record<string, string>> = {
  '20261122114158_movements_count_once': {
    'CREATE OR REPLACE FUNCTION refuse_unpayable_match()':
      'It refuses a second payment by the same movement, which the previous version would book twice; that transfer then waits for a person.',
  },
  '20261122114800_uncovered_holds': {
    'CREATE UNIQUE INDEX hold_uncovered':
      'The index holds only rows that are marked, and the previous version marks none.',
  },
  '20261122121000_escrow': {
    'ALTER TABLE hold ADD CONSTRAINT hold_escrow_covered':
      'Both columns are false in what the previous version writes.',
    'CREATE CONSTRAINT TRIGGER admission_change ':
      'It counts, and refuses nothing; what the previous version changes has to be counted.',
    'CREATE CONSTRAINT TRIGGER admission_change_paid ': 'It counts, and refuses nothing.',
    'CREATE TRIGGER admission_change_all ': 'It counts, and refuses nothing.',
  },
  '20261122145200_price_tiers': {
    'ALTER TABLE route ADD CONSTRAINT route_cost_tiers':
      'The previous version writes no tiers, and an empty list fulfils it.',
    'ALTER TABLE ledger_entry ADD CONSTRAINT ledger_tier ': 'The bound is NULL in what the previous version writes.',
    'ALTER TABLE ledger_entry ADD CONSTRAINT ledger_tier_end ':
      'The bound is NULL in what the previous version writes.',
  },
  '20261122150600_undone_matches': {
    'DROP TRIGGER append_only ON transfer_match': 'It is replaced by the next statement.',
    'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON transfer_match':
      'It allows one thing more, and the previous version deletes no matches.',
  },
  '20261122152800_margins': {
    'CREATE TRIGGER add_margin': 'It adds up what the previous version writes, too, and refuses nothing.',
  },
  '20261122154200_unit_prices': {
    'ALTER TABLE route ADD CONSTRAINT route_cost_per_unit':
      'The previous version writes no prices by the piece, and an empty object fulfils it.',
    'ALTER TABLE ledger_entry DROP CONSTRAINT ledger_cost': 'It is replaced by the next statement.',
    'ALTER TABLE ledger_entry ADD CONSTRAINT ledger_cost':
      'The previous version writes no units: for its entries it is the rule as it was.',
  },
  '20261122175532_price_clock': {
    'ALTER TABLE route ADD CONSTRAINT route_cost_clock': 'The column is NULL in what the previous version writes.',
  },
  '20261123203000_batch_charges': {
    'ALTER TABLE vendor_batch ADD CONSTRAINT vendor_batch_charged':
      'The column is NULL in what the previous version writes.',
  },
  '20261123184000_price_variants': {
    'ALTER TABLE route ADD CONSTRAINT route_cost_variants': 'The column is NULL in what the previous version writes.',
  },
  '20261122180500_notice_channels': {
    'ALTER TABLE notice ALTER COLUMN account_id DROP NOT NULL':
      'The previous version reads notices by their account, and so none without one; it writes it always.',
    'ALTER TABLE notice DROP CONSTRAINT notice_kind': 'It is replaced by the next statement.',
    'ALTER TABLE notice ADD CONSTRAINT notice_kind': 'It allows more kinds than before.',
    'ALTER TABLE notice ADD CONSTRAINT notice_one_reader': 'The previous version names no person.',
    'CREATE UNIQUE INDEX notice_open_business':
      'It holds only rows without an account, and the previous version writes none.',
    'CREATE UNIQUE INDEX notice_open_person': 'It holds only rows of persons, and the previous version writes none.',
  },
  '20261122190800_erasure_and_retention': {
    'DROP TRIGGER append_only ON audit_entry': 'It is replaced by the next statement.',
    'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_entry':
      'It allows two things more, and the previous version changes no entry.',
  },
  '20261123095500_erased_accounts': {
    'CREATE TRIGGER refuse_erased':
      'It refuses what would undo an erasure: the previous version fails where it would have given an erased account money or a name back.',
    'CREATE TRIGGER keep_erased':
      'The previous version changes nothing of an erased account but to wake it by mistake.',
    'CREATE OR REPLACE FUNCTION refuse_audit_rewrite()': 'It allows one thing more.',
    'WITH ended AS ( UPDATE purchase_order':
      'It cancels orders and queues transfers as the previous version does, with its words.',
  },
  '20261123184002_vendor_batches': {
    'INSERT INTO process':
      'A process whose lease does not end is one that lives: its holds are left alone, and nothing else is read of it.',
  },
  '20261123220000_operator_roles': {
    'CREATE TRIGGER end_operator_role':
      'It writes the new column alone, which the previous version does not read: the role goes that it would leave behind.',
  },
  '20261128160000_ledger_on_shards': {
    'CREATE OR REPLACE FUNCTION ensure_ledger_partitions': 'It makes the same months.',
    'CREATE OR REPLACE FUNCTION refuse_wrong_undo()': 'It refuses the same.',
  },
  '20261123151500_run_lines': {
    'ALTER TABLE ledger_entry DROP CONSTRAINT ledger_cost': 'It is replaced by the next statement.',
    'ALTER TABLE ledger_entry ADD CONSTRAINT ledger_cost':
      'The previous version writes no lines: for its entries it is the rule as it was.',
  },
  '20261123190000_image_prices': {
    'ALTER TABLE route ADD CONSTRAINT route_cost_images': 'The column is NULL in what the previous version writes.',
    'ALTER TABLE model DROP CONSTRAINT model_kind': 'It is replaced by the next statement.',
    'ALTER TABLE model ADD CONSTRAINT model_kind': 'It allows one kind more.',
  },
  '20261123111800_readable_tags': {
    'ALTER TABLE account DROP CONSTRAINT account_attribution': 'It is replaced by the next statement.',
    'ALTER TABLE account ADD CONSTRAINT account_attribution': 'It allows one mode more.',
    'ALTER TABLE account ALTER COLUMN attribution SET DEFAULT': 'The previous version takes the new mode for digests.',
  },
  '20261123151500_refund_mails': {
    'ALTER TABLE order_mail DROP CONSTRAINT order_mail_kind': 'It is replaced by the next statement.',
    'ALTER TABLE order_mail ADD CONSTRAINT order_mail_kind':
      'It allows one kind more, which the previous version fails to write and gives up after its tries.',
  },
  '20261123184500_undone_refunds': {
    'ALTER TABLE posting DROP CONSTRAINT posting_amount': 'It is replaced by the next statement.',
    'ALTER TABLE posting ADD CONSTRAINT posting_amount': 'It allows more than before.',
    'CREATE OR REPLACE FUNCTION refuse_excess_': 'They allow what the previous version writes.',
    'ALTER TABLE order_mail DROP CONSTRAINT order_mail_kind': 'It is replaced by the next statement.',
    'ALTER TABLE order_mail ADD CONSTRAINT order_mail_kind':
      'It allows one kind more, which the previous version fails to write and gives up after its tries.',
  },
  '20261122184500_codes_bonuses_gifts': {
    'ALTER TABLE grant DROP CONSTRAINT grant_kind': 'It is replaced by the next statement.',
    'ALTER TABLE grant ADD CONSTRAINT grant_kind': 'It allows two kinds more.',
  },
  '20261122215100_recovered_notices': {
    'ALTER TABLE notice DROP CONSTRAINT notice_kind': 'It is replaced by the next statement.',
    'ALTER TABLE notice ADD CONSTRAINT notice_kind': 'It allows one kind more than before.',
  },
  '20261122162200_cheaper_margin_sums': {
    'CREATE OR REPLACE FUNCTION add_margin()': 'It adds up the same sums, in two steps.',
  },
  '20261123003200_cache_savings_by_hour': {
    'CREATE OR REPLACE FUNCTION add_margin()': 'It adds up the same sums and one more, which only this version reads.',
  },
  '20261123005000_cheaper_settlements': {
    'ALTER TABLE ledger_entry ADD CONSTRAINT ledger_further': 'It is the four rules that the next statements drop.',
    'ALTER TABLE ledger_entry DROP CONSTRAINT ledger_tier': 'The new constraint has both of that name.',
    'ALTER TABLE ledger_entry DROP CONSTRAINT ledger_units': 'The new constraint has it.',
    'ALTER TABLE ledger_entry DROP CONSTRAINT ledger_price_window': 'The new constraint has it.',
    'CREATE OR REPLACE FUNCTION count_key_spend()': 'Of what the previous version writes it counts the same.',
    'DROP TRIGGER count_charged ON key_spend': 'It is replaced by the next statement.',
    'CREATE TRIGGER count_charged':
      'It counts all that the previous version writes, whose statements never move the sum of the week.',
  },
  '20261123011200_shared_limits_at_once': {
    'CREATE OR REPLACE FUNCTION count_shared_spend()': 'It moves the same sums by the same amounts.',
  },
  '20261122180300_spend_limits': {
    'CREATE TRIGGER count_inserted ':
      'It adds up the same charges as the previous version, which says nothing of weeks.',
    'CREATE TRIGGER count_charged ': 'It adds up the same charges as the previous version, in the same periods.',
    'CREATE CONSTRAINT TRIGGER count_account ': 'It adds up, and refuses nothing.',
    'CREATE CONSTRAINT TRIGGER count_account_inserted ': 'It adds up, and refuses nothing.',
    'CREATE TRIGGER time_zone_changed ': 'The previous version changes no time zone.',
    'CREATE TRIGGER burn_changed ': 'The previous version changes no burn limit.',
    'CREATE CONSTRAINT TRIGGER admission_change_zone ': 'It counts, and refuses nothing.',
    'UPDATE key_spend k SET week = ': 'Both columns are new.',
  },
  '20261122212000_members_and_projects': {
    'CREATE TRIGGER inherit_place ': 'It fills columns that are new, and refuses nothing.',
  },
  '20261122212001_makers_of_keys': {
    'UPDATE api_key k SET created_by = ': 'The column is new.',
  },
  '20261122211446_bill_alarms': {
    'ALTER TABLE notice DROP CONSTRAINT notice_kind': 'It is replaced by the next statement.',
    'ALTER TABLE notice ADD CONSTRAINT notice_kind': 'It allows two kinds more.',
  },
  '20261122213200_shared_limits': {
    'CREATE CONSTRAINT TRIGGER count_shared ': 'It adds up, and refuses nothing.',
    'CREATE CONSTRAINT TRIGGER count_shared_inserted ': 'It adds up, and refuses nothing.',
    'CREATE TRIGGER share_inserted ': 'It fills two columns that are new.',
    'CREATE TRIGGER project_made ': 'It adds a row to a table that is new.',
    'CREATE TRIGGER project_changed ': 'It notes the change in tables and columns that are new.',
    'CREATE TRIGGER project_chosen ': 'It notes the change in tables and columns that are new.',
    'CREATE TRIGGER time_zone_changed_shared ': 'It changes a table that is new.',
    'UPDATE key_spend s SET project_id = ': 'The column is new.',
  },
  '20261122211900_ledger_archive': {
    'DROP TRIGGER append_only ON posting': 'It is replaced by the next statement.',
    'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON posting':
      'It allows one thing more, and the previous version deletes no posting.',
    'CREATE TRIGGER refuse_archived BEFORE INSERT ON ledger_partition.ledger_elsewhere':
      'It refuses entries of archived months, and months are archived by a command that the previous version does not have.',
  },
  '20261123011400_first_use_of_keys': {
    'CREATE OR REPLACE FUNCTION lock_money': 'It takes one more lock, after those that it took.',
    'CREATE TRIGGER await_limits ': 'It waits for limits that are being set when a key is used for the first time.',
  },
  '20261123021800_restorable_functions': {
    "DO ''": 'They answer the same, and find what they call whatever the path of the session.',
  },
  '20261122185300_pace_limits': {
    'CREATE TRIGGER announce AFTER INSERT OR UPDATE OF requests_per_minute':
      'It tells the processes of a change that the previous version does not make.',
  },
  '20261123095814_refunds_and_whole_months': {
    'CREATE TRIGGER record_sale_undone': 'It writes down what the previous version undoes, and refuses nothing.',
    'CREATE TRIGGER record_grant_undone': 'It writes down what the previous version undoes, and refuses nothing.',
    'CREATE TRIGGER number_receipt ': 'It numbers what the previous version sells, and refuses nothing.',
    'CREATE TRIGGER number_receipt_at_once': 'It numbers what the previous version sells, and refuses nothing.',
    'CREATE TRIGGER succession': 'It concerns rows with lines, and the previous version writes none.',
  },
};

const migrations = await readMigrations();
const later = migrations.filter(({ name }) => name > lastOfFirstVersion);

it.each(later.map(({ name }) => name))('%s: the previous version works beside it', (name) => {
  const index = migrations.findIndex((each) => each.name === name);
  const before = migrations.slice(0, index).map(({ script }) => script);
  const reasons = justified[name] ?? {};
  const breaches = findBreaches(migrations[index]?.script ?? '', before);
  const isJustified = ({ statement }: { statement: string }): boolean =>
    Object.keys(reasons).some((beginning) => statement.startsWith(beginning));
  expect(breaches.filter((breach) => !isJustified(breach))).toEqual([]);
  // A reason that nothing needs any more would excuse the next mistake.
  const unused = Object.keys(reasons).filter(
    (beginning) => !breaches.some(({ statement }) => statement.startsWith(beginning)),
  );
  expect(unused).toEqual([]);
});

describe('a migration that the previous version cannot live with is refused', () => {
  const before = [
    'CREATE TABLE "account" ("id" UUID NOT NULL, "email" TEXT NOT NULL, "note" TEXT, CONSTRAINT "account_pkey" PRIMARY KEY ("id"));',
    'CREATE TABLE payment (id UUID PRIMARY KEY, account_id UUID NOT NULL);',
  ];

  it.each([
    ['a table that is dropped', 'DROP TABLE payment'],
    ['a column that is dropped', 'ALTER TABLE account ADD COLUMN x TEXT, DROP COLUMN "note"'],
    ['a table that is renamed', 'ALTER TABLE payment RENAME TO charge'],
    ['a column that is renamed', 'ALTER TABLE "account" RENAME COLUMN note TO remark'],
    ['a type that changes', 'ALTER TABLE account ALTER COLUMN note TYPE JSONB USING note::jsonb'],
    ['a column without a default', 'ALTER TABLE account ADD COLUMN "region" TEXT NOT NULL'],
    ['a default that goes', 'ALTER TABLE account ALTER COLUMN note DROP DEFAULT'],
    ['NULL that is forbidden', 'ALTER TABLE account ALTER COLUMN note SET NOT NULL'],
    [
      'a check of what it writes',
      'ALTER TABLE account ADD COLUMN a INT; ALTER TABLE account ADD CONSTRAINT c CHECK (a > 0 AND note IS NOT NULL)',
    ],
    [
      'a check hidden behind another action',
      "ALTER TABLE account ADD COLUMN b TEXT DEFAULT 'x, y', ADD CONSTRAINT c CHECK (length(note) < 9)",
    ],
    [
      'a reference that it must keep',
      'ALTER TABLE payment ADD CONSTRAINT f FOREIGN KEY (account_id) REFERENCES account(id)',
    ],
    ['rows that must differ', 'CREATE UNIQUE INDEX u ON account (email)'],
    ['a column of equal values that must differ', "ALTER TABLE account ADD COLUMN c TEXT NOT NULL DEFAULT '' UNIQUE"],
    ['a trigger on what it writes', 'CREATE TRIGGER t BEFORE INSERT ON account FOR EACH ROW EXECUTE FUNCTION f()'],
    ['a function that changes', 'CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 2; $$'],
    ['data that changes', "UPDATE account SET note = 'v2:' || note"],
    ['data that goes', 'DELETE FROM payment'],
    ['anything unknown', 'ALTER TABLE account ENABLE ROW LEVEL SECURITY'],
    ['anything unknown of the database', 'REVOKE ALL ON account FROM steyg'],
  ])('%s', (_what, script) => {
    expect(findBreaches(script, before)).toHaveLength(1);
  });

  it.each([
    [
      'a new table with all its rules',
      'CREATE TABLE "t" ("id" INT NOT NULL, CONSTRAINT "p" PRIMARY KEY ("id")); ALTER TABLE t ADD CONSTRAINT c CHECK (id > 0); CREATE UNIQUE INDEX i ON "t"("id"); INSERT INTO t VALUES (1)',
    ],
    ['a column that may be NULL', 'ALTER TABLE account ADD COLUMN region TEXT'],
    ['a column with a default', 'ALTER TABLE "account" ADD COLUMN "region" TEXT NOT NULL DEFAULT \'\''],
    [
      'a check of new columns alone',
      'ALTER TABLE account ADD COLUMN rate INT, ADD CONSTRAINT account_rate CHECK (rate > 0)',
    ],
    ['an index', 'CREATE INDEX i ON account (note)'],
    ['words in comments and texts', "-- DROP TABLE account;\nCOMMENT ON TABLE account IS 'DROP TABLE payment; it''s'"],
  ])('but not %s', (_what, script) => {
    expect(findBreaches(script, before)).toEqual([]);
  });
});
