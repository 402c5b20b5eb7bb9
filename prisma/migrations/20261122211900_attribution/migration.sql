-- What requests are attributed to: sessions of client programs, end users of customers, tags. Keyed digests, or values where the
-- account asks for them.

-- AlterTable
ALTER TABLE "account" ADD COLUMN     "attribution" TEXT NOT NULL DEFAULT 'digests';
ALTER TABLE account ADD CONSTRAINT account_attribution CHECK (attribution IN ('off', 'digests', 'plain'));

-- CreateTable
CREATE TABLE "attribution" (
    "account_id" UUID NOT NULL,
    "request_id" UUID NOT NULL,
    "session" TEXT,
    "end_user" TEXT,
    "tags" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "attribution_pkey" PRIMARY KEY ("account_id","request_id")
);

-- CreateTable
CREATE TABLE "attribution_hour" (
    "account_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "label" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "key_id" UUID NOT NULL,
    "requests" BIGINT NOT NULL DEFAULT 0,
    "input" BIGINT NOT NULL DEFAULT 0,
    "cache_hit" BIGINT NOT NULL DEFAULT 0,
    "cache_write_5m" BIGINT NOT NULL DEFAULT 0,
    "cache_write_1h" BIGINT NOT NULL DEFAULT 0,
    "output" BIGINT NOT NULL DEFAULT 0,
    "cost" BIGINT NOT NULL DEFAULT 0,
    "charged" BIGINT NOT NULL DEFAULT 0,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "attribution_hour_pkey" PRIMARY KEY ("account_id","kind","hour","label","model","key_id")
);

-- CreateIndex
CREATE INDEX "attribution_account_id_session_request_id_idx" ON "attribution"("account_id", "session", "request_id");

-- CreateIndex
CREATE INDEX "attribution_created_at_idx" ON "attribution" USING BRIN ("created_at");

-- CreateIndex
CREATE INDEX "attribution_hour_account_id_kind_label_hour_idx" ON "attribution_hour"("account_id", "kind", "label", "hour");

-- CreateIndex
CREATE INDEX "attribution_hour_hour_idx" ON "attribution_hour" USING BRIN ("hour");

-- What was noted is not rewritten; retention and erasure delete it.
CREATE TRIGGER append_only BEFORE UPDATE ON attribution FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
-- Sums by hour are updated in place: room in each page keeps that out of the indexes.
ALTER TABLE attribution_hour SET (fillfactor = 80);
