-- Money held in advance for a key by a process, and the witness that tells every process at once whether what it knows
-- of keys, accounts, models, prices and the ends of grants is still true. The previous version takes an escrow for a hold.

-- AlterTable
ALTER TABLE "hold" ADD COLUMN     "escrow" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "process" ADD COLUMN     "lease_since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- CreateTable
CREATE TABLE "admission_change" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "number" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "admission_change_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "escrow_call" (
    "process_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,

    CONSTRAINT "escrow_call_pkey" PRIMARY KEY ("process_id","account_id")
);

INSERT INTO admission_change DEFAULT VALUES;

-- An escrow serves requests that are covered; it is never the one hold that may be exceeded.
ALTER TABLE hold ADD CONSTRAINT hold_escrow_covered CHECK (NOT (escrow AND uncovered));

-- Raises the number once in a transaction. The triggers are deferred, so that the row of the number is the last lock that a
-- transaction takes: transactions wait here for each other's commit and never in a circle.
CREATE FUNCTION raise_admission_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('steyg.admission_change', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
    UPDATE admission_change SET number = number + 1 WHERE id = 1;
    PERFORM set_config('steyg.admission_change', pg_current_xact_id()::text, true);
  END IF;
  RETURN NULL;
END $$;

-- What is new is known to no process: new keys, accounts and models need no number. A grant that is not a trial ends what
-- holds for trials only.
CREATE CONSTRAINT TRIGGER admission_change AFTER UPDATE OR DELETE ON api_key
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_admission_change();
CREATE CONSTRAINT TRIGGER admission_change AFTER UPDATE OF id, status OR DELETE ON account
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_admission_change();
CREATE CONSTRAINT TRIGGER admission_change AFTER UPDATE OR DELETE ON model
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_admission_change();
CREATE CONSTRAINT TRIGGER admission_change AFTER INSERT OR UPDATE OR DELETE ON price
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_admission_change();
CREATE CONSTRAINT TRIGGER admission_change AFTER UPDATE OF account_id, id, kind, amount, expires_at OR DELETE ON "grant"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_admission_change();
CREATE CONSTRAINT TRIGGER admission_change_paid AFTER INSERT ON "grant"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.kind <> 'trial') EXECUTE FUNCTION raise_admission_change();

-- TRUNCATE has no rows.
CREATE TRIGGER admission_change_all AFTER TRUNCATE ON api_key FOR EACH STATEMENT EXECUTE FUNCTION raise_admission_change();
CREATE TRIGGER admission_change_all AFTER TRUNCATE ON account FOR EACH STATEMENT EXECUTE FUNCTION raise_admission_change();
CREATE TRIGGER admission_change_all AFTER TRUNCATE ON model FOR EACH STATEMENT EXECUTE FUNCTION raise_admission_change();
CREATE TRIGGER admission_change_all AFTER TRUNCATE ON "grant" FOR EACH STATEMENT EXECUTE FUNCTION raise_admission_change();
