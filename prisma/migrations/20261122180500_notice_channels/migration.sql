-- Notices of more causes, to operators and persons too, over channels of chat programs, each delivered once.

ALTER TABLE "notice" ALTER COLUMN "account_id" DROP NOT NULL,
  ADD COLUMN "user_id" UUID,
  ADD COLUMN "last_seen_at" TIMESTAMPTZ(3);

ALTER TABLE "notice_settings" ADD COLUMN "burn_amount" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "burn_minutes" INTEGER NOT NULL DEFAULT 60,
  ADD COLUMN "key_percent" SMALLINT NOT NULL DEFAULT 80,
  ADD COLUMN "muted" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  ADD COLUMN "quiet_from" SMALLINT,
  ADD COLUMN "quiet_to" SMALLINT,
  ADD COLUMN "time_zone" TEXT;

CREATE TABLE "business_notice_settings" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "mail" BOOLEAN NOT NULL DEFAULT true,
    "muted" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "shortfall" BIGINT NOT NULL DEFAULT 0,
    "margin_percent" SMALLINT,
    "quiet_from" SMALLINT,
    "quiet_to" SMALLINT,
    "time_zone" TEXT,
    CONSTRAINT "business_notice_settings_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "notice_channel" (
    "id" UUID NOT NULL,
    "account_id" UUID,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "target" TEXT NOT NULL DEFAULT '',
    "locale" TEXT NOT NULL DEFAULT 'en',
    "kinds" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "sealed" BYTEA NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "problem" TEXT,
    "delivered_at" TIMESTAMPTZ(3),
    "tested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    CONSTRAINT "notice_channel_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "notice_delivery" (
    "id" UUID NOT NULL,
    "notice_id" UUID NOT NULL,
    "target" TEXT NOT NULL,
    "channel_id" UUID,
    "user_id" UUID,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "held" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "problem" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "delivered_at" TIMESTAMPTZ(3),
    CONSTRAINT "notice_delivery_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "notice_cause" (
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "notice_cause_pkey" PRIMARY KEY ("kind","subject")
);

CREATE TABLE "spend_sample" (
    "account_id" UUID NOT NULL,
    "minute" TIMESTAMPTZ(0) NOT NULL,
    "spent" BIGINT NOT NULL,
    CONSTRAINT "spend_sample_pkey" PRIMARY KEY ("account_id","minute")
);

CREATE INDEX "notice_channel_account_id_idx" ON "notice_channel"("account_id");
CREATE UNIQUE INDEX "notice_delivery_notice_id_target_key" ON "notice_delivery"("notice_id", "target");
ALTER TABLE "notice_delivery" ADD CONSTRAINT "notice_delivery_notice_id_fkey" FOREIGN KEY ("notice_id") REFERENCES "notice"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "notice_delivery" ADD CONSTRAINT "notice_delivery_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "notice_channel"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "notice_delivery" ADD CONSTRAINT "notice_delivery_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma cannot say.
ALTER TABLE notice DROP CONSTRAINT notice_kind;
ALTER TABLE notice ADD CONSTRAINT notice_kind CHECK (kind IN
  ('balance_low', 'balance_exhausted', 'grant_expiring', 'trial_ending', 'burn_rate', 'key_limit_near', 'price_changed',
   'model_incident', 'new_sign_in', 'shortfall', 'upstream_failing', 'transfer_waiting', 'margin_low'));
ALTER TABLE notice ADD CONSTRAINT notice_one_reader CHECK (user_id IS NULL OR account_id IS NULL);
CREATE UNIQUE INDEX notice_open_business ON notice (kind, subject)
  WHERE cleared_at IS NULL AND account_id IS NULL AND user_id IS NULL;
CREATE UNIQUE INDEX notice_open_person ON notice (user_id, kind, subject) WHERE cleared_at IS NULL AND user_id IS NOT NULL;

ALTER TABLE notice_settings ADD CONSTRAINT notice_burn CHECK (burn_amount >= 0 AND burn_minutes BETWEEN 1 AND 1440);
ALTER TABLE notice_settings ADD CONSTRAINT notice_key_percent CHECK (key_percent BETWEEN 0 AND 100);
ALTER TABLE notice_settings ADD CONSTRAINT notice_quiet CHECK (quiet_from BETWEEN 0 AND 1439 AND quiet_to BETWEEN 0 AND 1439
  AND (quiet_from IS NULL) = (quiet_to IS NULL));
ALTER TABLE business_notice_settings ADD CONSTRAINT business_notice_one_row CHECK (id = 1);
ALTER TABLE business_notice_settings ADD CONSTRAINT business_notice_limits
  CHECK (shortfall >= 0 AND margin_percent BETWEEN -100 AND 100);
ALTER TABLE business_notice_settings ADD CONSTRAINT business_notice_quiet
  CHECK (quiet_from BETWEEN 0 AND 1439 AND quiet_to BETWEEN 0 AND 1439 AND (quiet_from IS NULL) = (quiet_to IS NULL));
ALTER TABLE notice_channel ADD CONSTRAINT notice_channel_kind
  CHECK (kind IN ('telegram', 'slack', 'discord', 'zalo', 'webhook'));
ALTER TABLE notice_channel ADD CONSTRAINT notice_channel_locale CHECK (locale IN ('en', 'vi'));
ALTER TABLE notice_delivery ADD CONSTRAINT notice_delivery_status
  CHECK (status IN ('pending', 'sending', 'delivered', 'failed', 'unknown'));
ALTER TABLE notice_delivery ADD CONSTRAINT notice_delivery_due
  CHECK ((status IN ('pending', 'sending')) = (next_attempt_at IS NOT NULL));
CREATE INDEX notice_delivery_due_at ON notice_delivery (next_attempt_at) WHERE status IN ('pending', 'sending');
ALTER TABLE spend_sample ADD CONSTRAINT spend_sample_spent CHECK (spent >= 0);
