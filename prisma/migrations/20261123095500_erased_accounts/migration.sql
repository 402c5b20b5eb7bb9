-- What is erased stays erased. A row of an account is written either before its erasure, which then forgets it, or not at all:
-- the lock waits for a running erasure, and a running insert is waited for by it. An argument `skip` leaves the row out where
-- its writer works for many accounts; otherwise the writer is told.
CREATE FUNCTION refuse_erased() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  erased timestamptz;
BEGIN
  SELECT erased_at INTO erased FROM account WHERE id = NEW.account_id FOR KEY SHARE;
  IF erased IS NULL THEN
    RETURN NEW;
  END IF;
  IF TG_NARGS > 0 THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the account of this % was erased', TG_TABLE_NAME USING ERRCODE = 'restrict_violation', CONSTRAINT = 'erased_account';
END $$;

-- Money and access.
CREATE TRIGGER refuse_erased BEFORE INSERT ON "grant" FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON purchase_order FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON api_key FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON access_token FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON member FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON invitation FOR EACH ROW EXECUTE FUNCTION refuse_erased();
-- Names, addresses and settings.
CREATE TRIGGER refuse_erased BEFORE INSERT ON project FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON account_company FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON account_limit FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON notice_settings FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON notice_channel FOR EACH ROW WHEN (NEW.account_id IS NOT NULL) EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON webhook_endpoint FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER refuse_erased BEFORE INSERT ON idempotency FOR EACH ROW EXECUTE FUNCTION refuse_erased();
-- What is told to many.
CREATE TRIGGER refuse_erased BEFORE INSERT ON notice FOR EACH ROW WHEN (NEW.account_id IS NOT NULL) EXECUTE FUNCTION refuse_erased('skip');

-- Nobody comes back under the account's row: its name, address and status never change again.
CREATE FUNCTION keep_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the account was erased' USING ERRCODE = 'restrict_violation', CONSTRAINT = 'erased_account';
END $$;
CREATE TRIGGER keep_erased BEFORE UPDATE ON account FOR EACH ROW
  WHEN (OLD.erased_at IS NOT NULL AND (OLD.name, OLD.email, OLD.status, OLD.erased_at) IS DISTINCT FROM (NEW.name, NEW.email, NEW.status, NEW.erased_at))
  EXECUTE FUNCTION keep_erased();

-- An erasure may also take single facts out of an entry: the amounts of a grant stay, the text of its reason goes.
CREATE OR REPLACE FUNCTION refuse_audit_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND current_setting('steyg.audit', true) = 'erasure'
     AND (NEW.before IS NULL OR OLD.before @> NEW.before) AND (NEW.after IS NULL OR OLD.after @> NEW.after)
     AND (NEW.id, NEW.actor, NEW.action, NEW.subject, NEW.created_at) = (OLD.id, OLD.actor, OLD.action, OLD.subject, OLD.created_at) THEN
    RETURN NEW;
  END IF;
  IF TG_OP = 'DELETE' AND current_setting('steyg.audit', true) = 'retention' AND OLD.created_at < now() - interval '30 days' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Accounts that were erased lately are looked after by a job.
CREATE INDEX account_erased_at_idx ON account (erased_at) WHERE erased_at IS NOT NULL;

-- Orders that were open when their accounts were erased: what arrives for them waits for a person, and so does what had
-- arrived.
WITH ended AS (
  UPDATE purchase_order o SET status = 'cancelled' FROM account a
  WHERE a.id = o.account_id AND a.erased_at IS NOT NULL AND o.status IN ('pending', 'partial', 'expired') RETURNING o.id
)
INSERT INTO transfer_review (transfer_id, reason, order_id)
SELECT m.transfer_id, 'short', m.order_id FROM transfer_match m JOIN ended ON ended.id = m.order_id
ON CONFLICT (transfer_id) DO NOTHING;
