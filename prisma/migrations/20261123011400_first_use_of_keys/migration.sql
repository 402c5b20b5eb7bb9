-- A key's first use and a first limit, a move or another zone in the same moment. Both lock the grants with money left, but an account
-- that has none gets one between the two: then the new row of the key would miss what is being set, for ever. Both take this lock
-- as well, after those of the grants.
CREATE FUNCTION lock_first_use(payer uuid) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('steyg.first_use:' || payer, 0));
$$;

CREATE OR REPLACE FUNCTION lock_money(payer uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "grant" WHERE account_id = payer AND spent + expired < amount ORDER BY account_id, id FOR NO KEY UPDATE;
  PERFORM lock_first_use(payer);
END $$;

CREATE FUNCTION await_limits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_first_use(NEW.account_id);
  RETURN NEW;
END $$;
-- Triggers run in the order of their names: before those that read the limits.
CREATE TRIGGER await_limits BEFORE INSERT ON key_spend FOR EACH ROW EXECUTE FUNCTION await_limits();
