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

-- The audit log knows who made the keys that there are: a person, or a program with a token that a person made.
UPDATE api_key k SET created_by = made.by
FROM (SELECT DISTINCT ON (e.subject) e.subject, coalesce(t.created_by, u.id) AS by
      FROM audit_entry e
      LEFT JOIN app_user u ON e.actor = 'user:' || u.id
      LEFT JOIN access_token t ON e.actor = 'token:' || t.id
      WHERE e.action = 'key.create' ORDER BY e.subject, e.created_at) AS made
WHERE made.subject = 'key:' || k.id AND made.by IS NOT NULL;
