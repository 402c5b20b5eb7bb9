-- Months of the ledger that were written into an archive and taken out of the tables. What the invariants need of them is
-- carried forward: sums of the entries by the prices that are frozen in them, and sums of the charges by grant.

CREATE TABLE "archived_month" (
    "month" DATE NOT NULL,
    "low" UUID NOT NULL,
    "high" UUID NOT NULL,
    "entries" BIGINT NOT NULL,
    "postings" BIGINT NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,
    "manifest" BYTEA NOT NULL,
    "archive" TEXT NOT NULL,
    "archived_by" TEXT NOT NULL,
    "archived_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "archived_month_pkey" PRIMARY KEY ("month")
);
ALTER TABLE archived_month ADD CONSTRAINT archived_month_first_day CHECK (month = date_trunc('month', month::timestamp)::date);
ALTER TABLE archived_month ADD CONSTRAINT archived_month_range CHECK (
  low = uuid_at(month::timestamp AT TIME ZONE 'UTC')
  AND high = uuid_at((month::timestamp + interval '1 month') AT TIME ZONE 'UTC'));
ALTER TABLE archived_month ADD CONSTRAINT archived_month_counts CHECK (entries >= 0 AND postings >= 0);
ALTER TABLE archived_month ADD CONSTRAINT archived_month_manifest CHECK (length(manifest) = 32);

-- `hour`: the beginning of the month for entries that were written in it, else the hour in which they were written.
CREATE TABLE "archived_sum" (
    "account_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "model" TEXT NOT NULL,
    "key_id" UUID NOT NULL,
    "outcome" TEXT NOT NULL,
    "price_input" BIGINT NOT NULL,
    "price_cache_hit" BIGINT NOT NULL,
    "price_cache_write_5m" BIGINT NOT NULL,
    "price_cache_write_1h" BIGINT NOT NULL,
    "price_output" BIGINT NOT NULL,
    "requests" BIGINT NOT NULL,
    "input" BIGINT NOT NULL,
    "cache_hit" BIGINT NOT NULL,
    "cache_write_5m" BIGINT NOT NULL,
    "cache_write_1h" BIGINT NOT NULL,
    "output" BIGINT NOT NULL,
    "units_cost" BIGINT NOT NULL,
    "cost" BIGINT NOT NULL,
    "charged" BIGINT NOT NULL,
    "upstream_cost" BIGINT NOT NULL,

    CONSTRAINT "archived_sum_pkey" PRIMARY KEY ("account_id","month","hour","model","key_id","outcome","price_input","price_cache_hit","price_cache_write_5m","price_cache_write_1h","price_output")
);
ALTER TABLE "archived_sum" ADD CONSTRAINT "archived_sum_month_fkey" FOREIGN KEY ("month") REFERENCES "archived_month"("month") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE archived_sum ADD CONSTRAINT archived_sum_counts CHECK (
  requests > 0 AND least(input, cache_hit, cache_write_5m, cache_write_1h, output, units_cost, upstream_cost) >= 0);
-- I4 of the sums: a cost follows from its own row, as that of an entry does.
ALTER TABLE archived_sum ADD CONSTRAINT archived_sum_cost CHECK (
  cost = input::numeric * price_input + cache_hit::numeric * price_cache_hit + cache_write_5m::numeric * price_cache_write_5m
       + cache_write_1h::numeric * price_cache_write_1h + output::numeric * price_output + units_cost);
ALTER TABLE archived_sum ADD CONSTRAINT archived_sum_charge CHECK (charged >= 0 AND charged <= cost);

-- What a grant paid for requests of the month. `last_held_at`: when the last of it was held, which was before the grant's end.
CREATE TABLE "archived_charge" (
    "account_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "grant_id" UUID NOT NULL,
    "postings" BIGINT NOT NULL,
    "amount" BIGINT NOT NULL,
    "last_held_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "archived_charge_pkey" PRIMARY KEY ("account_id","month","grant_id")
);
ALTER TABLE "archived_charge" ADD CONSTRAINT "archived_charge_month_fkey" FOREIGN KEY ("month") REFERENCES "archived_month"("month") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE archived_charge ADD CONSTRAINT archived_charge_counts CHECK (postings > 0 AND amount > 0);

-- Append-only, until the entries are back: then the sums go, in the transaction that attaches the month again.
CREATE FUNCTION refuse_archive_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (
    SELECT FROM pg_inherits WHERE inhparent = 'ledger_entry'::regclass
      AND inhrelid = to_regclass('ledger_partition.ledger_' || to_char(OLD.month, 'YYYY_MM'))) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON archived_month FOR EACH ROW EXECUTE FUNCTION refuse_archive_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON archived_sum FOR EACH ROW EXECUTE FUNCTION refuse_archive_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON archived_charge FOR EACH ROW EXECUTE FUNCTION refuse_archive_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON archived_month FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON archived_sum FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON archived_charge FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

-- Charges leave the table only with their month: their sums stand in `archived_charge`.
CREATE FUNCTION refuse_posting_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.kind = 'charge'
     AND EXISTS (SELECT FROM archived_month WHERE OLD.request_id >= low AND OLD.request_id < high) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER append_only ON posting;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON posting FOR EACH ROW EXECUTE FUNCTION refuse_posting_rewrite();

-- A request of an archived month is never settled a second time. Its entry would be routed to the default partition, so the
-- partitions that settlements write to need no trigger.
CREATE FUNCTION refuse_archived_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM archived_month WHERE NEW.request_id >= low AND NEW.request_id < high) THEN
    RAISE EXCEPTION 'the ledger of this month is archived' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refuse_archived BEFORE INSERT ON ledger_partition.ledger_elsewhere FOR EACH ROW EXECUTE FUNCTION refuse_archived_entry();
