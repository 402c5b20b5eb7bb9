-- CreateTable
CREATE TABLE "vendor_batch_file" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "endpoint" TEXT NOT NULL,
    "upstream" TEXT NOT NULL,
    "upstream_key" TEXT,
    "vendor_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "lines" INTEGER NOT NULL,
    "bound" BIGINT NOT NULL,
    "models" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "vendor_batch_file_pkey" PRIMARY KEY ("account_id","id")
);

ALTER TABLE vendor_batch_file
  ADD CONSTRAINT vendor_batch_file_amounts CHECK (bytes >= 0 AND lines > 0 AND bound >= 0),
  ADD CONSTRAINT vendor_batch_file_models CHECK (jsonb_typeof(models) = 'array' AND jsonb_array_length(models) BETWEEN 1 AND 100);
