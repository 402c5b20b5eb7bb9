-- Operators with less than every right. `operator` stays true for owners alone: the previous version, which knows no
-- other operators, gives these people nothing.

-- AlterTable
ALTER TABLE "app_user" ADD COLUMN     "operator_role" TEXT;

ALTER TABLE app_user ADD CONSTRAINT app_user_operator_role CHECK (operator_role IN ('finance', 'support'));

-- The previous version makes owners and ends them without a word of this column: a lesser role must not come back then.
CREATE FUNCTION end_operator_role() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.operator_role := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER end_operator_role BEFORE UPDATE OF operator ON app_user FOR EACH ROW
  WHEN (NEW.operator IS DISTINCT FROM OLD.operator AND NEW.operator_role IS NOT DISTINCT FROM OLD.operator_role)
  EXECUTE FUNCTION end_operator_role();
