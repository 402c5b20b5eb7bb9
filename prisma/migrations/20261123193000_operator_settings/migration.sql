-- Settings that operators keep in the dashboard instead of the environment, each sealed and bound to its name.

-- CreateTable
CREATE TABLE "operator_setting" (
    "id" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "operator_setting_pkey" PRIMARY KEY ("id")
);

ALTER TABLE operator_setting ADD CONSTRAINT operator_setting_name CHECK (id ~ '^[A-Z][A-Z0-9_]{1,63}$');
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON operator_setting
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('settings');
