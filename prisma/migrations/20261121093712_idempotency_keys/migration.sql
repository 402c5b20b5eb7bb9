-- CreateTable
CREATE TABLE "idempotency" (
    "account_id" UUID NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "input" BYTEA NOT NULL,
    "result_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_pkey" PRIMARY KEY ("account_id","operation","key")
);

-- CreateIndex
CREATE INDEX "idempotency_created_at_idx" ON "idempotency"("created_at");
