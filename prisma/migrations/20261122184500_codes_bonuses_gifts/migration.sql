-- Redemption codes, bonuses of top-ups, free amounts, and orders for another account.
ALTER TABLE "purchase_order" ADD COLUMN "bonus" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "free_amount" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "gift_to" TEXT,
ADD COLUMN "receiver_id" UUID;

-- CreateTable
CREATE TABLE "bonus_step" (
    "from_vnd" BIGINT NOT NULL,
    "basis_points" INTEGER NOT NULL,

    CONSTRAINT "bonus_step_pkey" PRIMARY KEY ("from_vnd")
);

-- CreateTable
CREATE TABLE "top_up" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "plan_id" TEXT NOT NULL,
    "min_vnd" BIGINT NOT NULL,
    "max_vnd" BIGINT NOT NULL,

    CONSTRAINT "top_up_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "code_batch" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "valid_days" INTEGER,
    "plan_id" TEXT,
    "count" INTEGER NOT NULL,
    "uses" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "code_batch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "redemption_code" (
    "id" UUID NOT NULL,
    "batch_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "last4" TEXT NOT NULL,
    "used" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "redemption_code_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "redemption" (
    "code_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "redeemed_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "redemption_pkey" PRIMARY KEY ("code_id","account_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "redemption_code_hash_key" ON "redemption_code"("hash");

-- CreateIndex
CREATE INDEX "redemption_code_batch_id_idx" ON "redemption_code"("batch_id");

-- CreateIndex
CREATE INDEX "redemption_account_id_idx" ON "redemption"("account_id");

-- AddForeignKey
ALTER TABLE "redemption_code" ADD CONSTRAINT "redemption_code_batch_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "code_batch"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "redemption" ADD CONSTRAINT "redemption_code_id_fkey" FOREIGN KEY ("code_id") REFERENCES "redemption_code"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Bonuses and codes are kinds of their own: neither is revenue.
ALTER TABLE "grant" DROP CONSTRAINT grant_kind;
ALTER TABLE "grant" ADD CONSTRAINT grant_kind CHECK (kind IN ('trial', 'purchase', 'adjustment', 'refund', 'bonus', 'code'));
ALTER TABLE purchase_order ADD CONSTRAINT order_bonus CHECK (bonus >= 0);
ALTER TABLE purchase_order ADD CONSTRAINT order_receiver CHECK (receiver_id IS NULL OR gift_to IS NOT NULL);
ALTER TABLE bonus_step ADD CONSTRAINT bonus_step_bounds CHECK (from_vnd > 0 AND basis_points BETWEEN 1 AND 10000);
ALTER TABLE top_up ADD CONSTRAINT top_up_single CHECK (id);
ALTER TABLE top_up ADD CONSTRAINT top_up_bounds CHECK (min_vnd > 0 AND max_vnd >= min_vnd);
ALTER TABLE code_batch ADD CONSTRAINT code_batch_bounds CHECK (amount > 0 AND count > 0 AND uses > 0 AND valid_days > 0);
ALTER TABLE redemption_code ADD CONSTRAINT redemption_code_hash CHECK (octet_length(hash) = 32);
ALTER TABLE redemption_code ADD CONSTRAINT redemption_code_used CHECK (used >= 0);
-- Gifts that wait for their receiver.
CREATE INDEX purchase_order_gift ON purchase_order (paid_at) WHERE gift_to IS NOT NULL AND receiver_id IS NULL AND status = 'paid';
