-- CreateTable
CREATE TABLE "model_mismatch" (
    "id" UUID NOT NULL,
    "model" TEXT NOT NULL,
    "upstream" TEXT NOT NULL,
    "asked" TEXT NOT NULL,
    "reported" TEXT NOT NULL,
    "count" BIGINT NOT NULL,
    "last_request_id" UUID NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),
    "closed_by" TEXT,

    CONSTRAINT "model_mismatch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "model_mismatch_mail" (
    "mismatch_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "model_mismatch_mail_pkey" PRIMARY KEY ("mismatch_id","user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "model_mismatch_model_upstream_asked_reported_key" ON "model_mismatch"("model", "upstream", "asked", "reported");

-- CreateIndex
CREATE INDEX "model_mismatch_mail_user_id_idx" ON "model_mismatch_mail"("user_id");

-- AddForeignKey
ALTER TABLE "model_mismatch_mail" ADD CONSTRAINT "model_mismatch_mail_mismatch_id_fkey" FOREIGN KEY ("mismatch_id") REFERENCES "model_mismatch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "model_mismatch_mail" ADD CONSTRAINT "model_mismatch_mail_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a vendor wrote is kept only as far as it can be a name: never what customers said.
ALTER TABLE model_mismatch ADD CONSTRAINT mismatch_reported CHECK
  (reported ~ '^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}$' OR reported IN ('(no name)', '(other names)'));
ALTER TABLE model_mismatch ADD CONSTRAINT mismatch_count CHECK (count > 0);
ALTER TABLE model_mismatch ADD CONSTRAINT mismatch_times CHECK (last_seen_at >= first_seen_at);
ALTER TABLE model_mismatch ADD CONSTRAINT mismatch_closed CHECK ((closed_at IS NULL) = (closed_by IS NULL));
ALTER TABLE model_mismatch_mail ADD CONSTRAINT mismatch_mail_state CHECK (state IN ('due', 'sent', 'failed'));
ALTER TABLE model_mismatch_mail ADD CONSTRAINT mismatch_mail_tries CHECK (tries >= 0);
CREATE INDEX mismatch_mail_due ON model_mismatch_mail (user_id) WHERE state = 'due';
