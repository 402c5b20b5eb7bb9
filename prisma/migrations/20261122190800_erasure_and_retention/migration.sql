-- The audit log stays append-only, but for two duties that say so in their transaction: the erasure of a person takes
-- facts out of entries, and the retention deletes entries that are older than its bound.
CREATE FUNCTION refuse_audit_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND current_setting('steyg.audit', true) = 'erasure'
     AND NEW.before IS NULL AND NEW.after IS NULL
     AND (NEW.id, NEW.actor, NEW.action, NEW.subject, NEW.created_at) = (OLD.id, OLD.actor, OLD.action, OLD.subject, OLD.created_at) THEN
    RETURN NEW;
  END IF;
  IF TG_OP = 'DELETE' AND current_setting('steyg.audit', true) = 'retention' AND OLD.created_at < now() - interval '30 days' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER append_only ON audit_entry;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_audit_rewrite();

-- An account whose person was forgotten; its books stay.
ALTER TABLE "account" ADD COLUMN "erased_at" TIMESTAMPTZ(3);
