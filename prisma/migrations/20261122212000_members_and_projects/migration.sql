-- Projects of an account, and who made each key. A key belongs to its account and survives the person who made it, unless
-- it is personal: then it ends when that person leaves.

-- CreateTable
CREATE TABLE "project" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "archived_at" TIMESTAMPTZ(3),

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "project_account_id_idx" ON "project"("account_id");

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Two projects that are in use never have one name.
CREATE UNIQUE INDEX project_name ON project (account_id, lower(name)) WHERE archived_at IS NULL;

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "created_by" UUID,
ADD COLUMN     "personal" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "project_id" UUID;

-- CreateIndex
CREATE INDEX "api_key_project_id_idx" ON "api_key"("project_id");

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE SET NULL ON UPDATE CASCADE;

ALTER TABLE api_key ADD CONSTRAINT api_key_personal CHECK (NOT personal OR created_by IS NOT NULL);

-- The previous version makes successors of keys without naming their maker and their project: they count for whom their
-- predecessors count for.
CREATE FUNCTION inherit_place() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  replaced api_key;
BEGIN
  SELECT * INTO replaced FROM api_key WHERE id = NEW.replaces AND account_id = NEW.account_id;
  NEW.personal := NEW.personal OR (NEW.created_by IS NULL AND coalesce(replaced.personal, false));
  NEW.created_by := coalesce(NEW.created_by, replaced.created_by);
  NEW.project_id := coalesce(NEW.project_id, replaced.project_id);
  RETURN NEW;
END $$;
CREATE TRIGGER inherit_place BEFORE INSERT ON api_key FOR EACH ROW WHEN (NEW.replaces IS NOT NULL) EXECUTE FUNCTION inherit_place();
