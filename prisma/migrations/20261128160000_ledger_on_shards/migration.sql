-- Functions that read entries or postings, so that they work where Citus has distributed these as well: its planner takes no
-- subquery without columns beside them. They do what they did.
CREATE OR REPLACE FUNCTION ensure_ledger_partitions(months integer) RETURNS integer LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
  -- Without a time zone, and meant as UTC: adding a month to a timestamptz would use the session's zone.
  first_day timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
  month timestamp;
  low uuid;
  high uuid;
  name text;
  made integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('steyg.ledger_partitions', 0));
  FOR i IN -1..months LOOP
    month := first_day + make_interval(months => i);
    name := 'ledger_' || to_char(month, 'YYYY_MM');
    CONTINUE WHEN to_regclass('ledger_partition.' || name) IS NOT NULL;
    low := uuid_at(month AT TIME ZONE 'UTC');
    high := uuid_at((month + interval '1 month') AT TIME ZONE 'UTC');
    CONTINUE WHEN EXISTS (SELECT 1 FROM ledger_partition.ledger_elsewhere WHERE request_id >= low AND request_id < high);
    EXECUTE format('CREATE TABLE ledger_partition.%I (LIKE ledger_entry INCLUDING ALL)', name);
    EXECUTE format('CREATE TRIGGER append_only_table BEFORE TRUNCATE ON ledger_partition.%I FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()', name);
    EXECUTE format('ALTER TABLE ledger_entry ATTACH PARTITION ledger_partition.%I FOR VALUES FROM (%L) TO (%L)', name, low, high);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;

CREATE OR REPLACE FUNCTION refuse_wrong_undo() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE taken refund%ROWTYPE;
BEGIN
  SELECT * INTO taken FROM refund WHERE id = NEW.refund_id FOR UPDATE;
  IF EXISTS (SELECT 1 FROM refund_payment WHERE refund_id = NEW.refund_id)
     OR coalesce((SELECT -amount FROM posting WHERE account_id = taken.holder_id AND id = NEW.posting_id AND grant_id = taken.grant_id), 0) <> taken.budget
     OR coalesce((SELECT -amount FROM posting WHERE account_id = taken.holder_id AND id = NEW.bonus_posting_id AND grant_id = taken.bonus_grant_id), 0) <> taken.bonus THEN
    RAISE EXCEPTION 'an undone refund is paid by nothing and gives back what it took' USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_undone_whole';
  END IF;
  RETURN NEW;
END $$;
