-- Batches that vendors answer later, at lower prices. Neither what is asked nor what is answered is kept: ids, counts, bounds, and
-- a digest of each line's name. The previous version does not read these tables.

-- CreateTable
CREATE TABLE "vendor_batch" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "form" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "upstream" TEXT NOT NULL,
    "upstream_key" TEXT,
    "vendor_id" TEXT,
    "state" TEXT NOT NULL DEFAULT 'preparing',
    "lines" INTEGER NOT NULL,
    "bound" BIGINT NOT NULL,
    "models" JSONB NOT NULL,
    "succeeded" INTEGER NOT NULL DEFAULT 0,
    "errored" INTEGER NOT NULL DEFAULT 0,
    "canceled" INTEGER NOT NULL DEFAULT 0,
    "expired" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "cancel_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "seen_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "poll_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "input_file" UUID,
    "output_id" TEXT,
    "error_id" TEXT,
    "times" JSONB,

    CONSTRAINT "vendor_batch_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "vendor_batch_line" (
    "account_id" UUID NOT NULL,
    "source_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "model" SMALLINT NOT NULL,
    "bound" BIGINT NOT NULL,
    "input" INTEGER NOT NULL,
    "output" INTEGER NOT NULL,
    "searches" INTEGER NOT NULL,
    "estimated" INTEGER NOT NULL,
    "long_writes" BOOLEAN NOT NULL,

    CONSTRAINT "vendor_batch_line_pkey" PRIMARY KEY ("account_id","source_id","digest")
);

ALTER TABLE vendor_batch
  ADD CONSTRAINT vendor_batch_form CHECK (form IN ('messages', 'openai')),
  ADD CONSTRAINT vendor_batch_state CHECK (state IN ('preparing', 'in_progress', 'canceling', 'ended', 'failed')),
  ADD CONSTRAINT vendor_batch_amounts CHECK (lines > 0 AND bound >= 0 AND attempts >= 0 AND least(succeeded, errored, canceled, expired) >= 0
    AND succeeded::bigint + errored + canceled + expired <= lines),
  ADD CONSTRAINT vendor_batch_models CHECK (jsonb_typeof(models) = 'array' AND jsonb_array_length(models) BETWEEN 1 AND 100),
  -- What a vendor runs has its name, and only what is over is settled.
  ADD CONSTRAINT vendor_batch_named CHECK (state IN ('preparing', 'failed') OR vendor_id IS NOT NULL),
  ADD CONSTRAINT vendor_batch_settled CHECK (settled_at IS NULL OR state = 'failed' OR (state = 'ended' AND seen_at IS NOT NULL));
ALTER TABLE vendor_batch_line
  ADD CONSTRAINT vendor_batch_line_amounts CHECK (length(digest) = 32 AND bound >= 0 AND least(model, input, output, searches, estimated) >= 0);

-- What is asked of vendors next, and an account's list.
CREATE INDEX vendor_batch_due ON vendor_batch (poll_at) WHERE settled_at IS NULL;

-- The holder of the money of batches. A batch outlives the process that accepted it: its hold is an escrow of this one, whose lease
-- does not end, so that no sweep gives it back. It is charged line by line and ended with its batch.
INSERT INTO process (id, lease_until, lease_since) VALUES ('00000000-0000-7000-8000-00000000ba7c', '9999-01-01', '2000-01-01')
ON CONFLICT (id) DO NOTHING;
