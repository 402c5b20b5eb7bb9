-- Makes the months of a ledger that Citus has distributed as well: its planner takes no subquery without columns. Nothing else is
-- different, and versions before this one call the function as they did.
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
