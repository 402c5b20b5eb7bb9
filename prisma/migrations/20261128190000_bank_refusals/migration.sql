-- When a message of a bank's provider was last refused, for each reason: why a test does not arrive. Nothing of the message.

-- CreateTable
CREATE TABLE "bank_refusal" (
    "provider" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bank_refusal_pkey" PRIMARY KEY ("provider","reason")
);

ALTER TABLE bank_refusal ADD CONSTRAINT bank_refusal_reason
  CHECK (reason IN ('unsigned', 'forged', 'stale', 'not_configured', 'unreadable', 'failed'));
