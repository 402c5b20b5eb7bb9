-- AlterTable
ALTER TABLE "purchase_order" ADD COLUMN     "idempotency_key" TEXT;

-- CreateTable
CREATE TABLE "transfer_review" (
    "transfer_id" UUID NOT NULL,
    "reason" TEXT NOT NULL,
    "order_id" UUID,
    "surplus_vnd" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),
    "closed_by" TEXT,
    "note" TEXT,

    CONSTRAINT "transfer_review_pkey" PRIMARY KEY ("transfer_id")
);

-- CreateTable
CREATE TABLE "probe_result" (
    "id" UUID NOT NULL,
    "model" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "outcome" TEXT NOT NULL,
    "reason" TEXT,
    "status" INTEGER,
    "latency_ms" INTEGER,
    "time_to_first_byte_ms" INTEGER,

    CONSTRAINT "probe_result_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "uptime_hour" (
    "model" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "up" INTEGER NOT NULL DEFAULT 0,
    "down" INTEGER NOT NULL DEFAULT 0,
    "no_data" INTEGER NOT NULL DEFAULT 0,
    "latency_ms" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "uptime_hour_pkey" PRIMARY KEY ("model","protocol","mode","hour")
);

-- CreateTable
CREATE TABLE "uptime_day" (
    "model" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "up" INTEGER NOT NULL DEFAULT 0,
    "down" INTEGER NOT NULL DEFAULT 0,
    "no_data" INTEGER NOT NULL DEFAULT 0,
    "latency_ms" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "uptime_day_pkey" PRIMARY KEY ("model","protocol","mode","day")
);

-- CreateTable
CREATE TABLE "incident" (
    "id" UUID NOT NULL,
    "model" TEXT NOT NULL,
    "impact" TEXT NOT NULL,
    "affected" TEXT[],
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "opened_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "incident_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "announcement" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "title_vi" TEXT,
    "body" TEXT NOT NULL,
    "body_vi" TEXT,
    "models" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "announcement_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notice_settings" (
    "account_id" UUID NOT NULL,
    "low_balance" BIGINT NOT NULL,
    "mail" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "notice_settings_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "notice" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "facts" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "mail" TEXT NOT NULL,
    "mail_tries" INTEGER NOT NULL DEFAULT 0,
    "cleared_at" TIMESTAMPTZ(3),

    CONSTRAINT "notice_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "events" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "sealed" BYTEA NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "event" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_attempt" (
    "id" UUID NOT NULL,
    "delivery_id" UUID NOT NULL,
    "status" INTEGER,
    "problem" TEXT,
    "duration_ms" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "transfer_review_order_id_idx" ON "transfer_review"("order_id");

-- CreateIndex
CREATE INDEX "probe_result_model_protocol_mode_started_at_idx" ON "probe_result"("model", "protocol", "mode", "started_at" DESC);

-- CreateIndex
CREATE INDEX "probe_result_started_at_idx" ON "probe_result"("started_at");

-- CreateIndex
CREATE INDEX "uptime_hour_hour_idx" ON "uptime_hour"("hour");

-- CreateIndex
CREATE INDEX "uptime_day_day_idx" ON "uptime_day"("day");

-- CreateIndex
CREATE INDEX "incident_started_at_idx" ON "incident"("started_at");

-- CreateIndex
CREATE INDEX "announcement_starts_at_idx" ON "announcement"("starts_at");

-- CreateIndex
CREATE INDEX "notice_account_id_created_at_idx" ON "notice"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "webhook_endpoint_account_id_idx" ON "webhook_endpoint"("account_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_endpoint_id_created_at_idx" ON "webhook_delivery"("endpoint_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "webhook_delivery_account_id_created_at_idx" ON "webhook_delivery"("account_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "webhook_attempt_delivery_id_created_at_idx" ON "webhook_attempt"("delivery_id", "created_at");

-- CreateIndex
CREATE INDEX "bank_transfer_bank_reference_idx" ON "bank_transfer"("bank_reference");

-- CreateIndex
CREATE UNIQUE INDEX "purchase_order_account_id_idempotency_key_key" ON "purchase_order"("account_id", "idempotency_key");

-- AddForeignKey
ALTER TABLE "transfer_review" ADD CONSTRAINT "transfer_review_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "bank_transfer"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_delivery"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- ---------------------------------------------------------------------------------------------------------------
-- What the schema file cannot say.
-- ---------------------------------------------------------------------------------------------------------------

-- The difference to a dearer plan can be paid once: a paid order is upgraded by one order that lives.
CREATE UNIQUE INDEX purchase_order_upgrade ON purchase_order (upgrades)
  WHERE upgrades IS NOT NULL AND status IN ('pending', 'partial', 'paid');
-- Orders that can still expire.
CREATE INDEX purchase_order_open ON purchase_order (expires_at) WHERE status IN ('pending', 'partial');

ALTER TABLE transfer_review ADD CONSTRAINT review_reason CHECK (reason IN
  ('no_memo', 'unknown_memo', 'several_memos', 'late', 'order_paid', 'order_cancelled', 'outgoing', 'no_amount',
   'other_account', 'surplus', 'short'));
ALTER TABLE transfer_review ADD CONSTRAINT review_surplus
  CHECK ((reason = 'surplus') = (surplus_vnd IS NOT NULL) AND surplus_vnd > 0);
ALTER TABLE transfer_review ADD CONSTRAINT review_closed CHECK ((closed_at IS NULL) = (closed_by IS NULL));
-- The operator's queue.
CREATE INDEX transfer_review_open ON transfer_review (created_at) WHERE closed_at IS NULL;

-- A transfer that pays an order is money that came in.
CREATE FUNCTION refuse_unpayable_match() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM bank_transfer WHERE id = NEW.transfer_id AND direction = 'in' AND amount_vnd > 0) THEN
    RAISE EXCEPTION 'transfer % cannot pay an order', NEW.transfer_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payable BEFORE INSERT ON transfer_match FOR EACH ROW EXECUTE FUNCTION refuse_unpayable_match();

ALTER TABLE probe_result ADD CONSTRAINT probe_outcome CHECK (outcome IN ('up', 'down', 'no_data'));
ALTER TABLE probe_result ADD CONSTRAINT probe_protocol CHECK (protocol IN ('messages', 'chat-completions', 'responses'));
ALTER TABLE probe_result ADD CONSTRAINT probe_mode CHECK (mode IN ('stream', 'plain'));
ALTER TABLE probe_result ADD CONSTRAINT probe_times CHECK (latency_ms >= 0 AND time_to_first_byte_ms >= 0);
ALTER TABLE uptime_hour ADD CONSTRAINT uptime_counts CHECK (up >= 0 AND down >= 0 AND no_data >= 0 AND latency_ms >= 0);
ALTER TABLE uptime_day ADD CONSTRAINT uptime_counts CHECK (up >= 0 AND down >= 0 AND no_data >= 0 AND latency_ms >= 0);
ALTER TABLE incident ADD CONSTRAINT incident_impact CHECK (impact IN ('partial', 'major'));
ALTER TABLE incident ADD CONSTRAINT incident_times CHECK (ended_at >= started_at);
CREATE UNIQUE INDEX incident_open ON incident (model) WHERE ended_at IS NULL;
ALTER TABLE announcement ADD CONSTRAINT announcement_kind CHECK (kind IN ('info', 'maintenance', 'incident'));
ALTER TABLE announcement ADD CONSTRAINT announcement_times CHECK (ends_at >= starts_at);

ALTER TABLE notice_settings ADD CONSTRAINT notice_threshold CHECK (low_balance >= 0);
ALTER TABLE notice ADD CONSTRAINT notice_kind CHECK (kind IN
  ('balance_low', 'balance_exhausted', 'grant_expiring', 'trial_ending'));
CREATE UNIQUE INDEX notice_open ON notice (account_id, kind, subject) WHERE cleared_at IS NULL;
ALTER TABLE notice ADD CONSTRAINT notice_mail CHECK (mail IN ('none', 'due', 'sent', 'failed'));
CREATE INDEX notice_mail_due ON notice (created_at) WHERE mail = 'due';
ALTER TABLE webhook_delivery ADD CONSTRAINT delivery_status CHECK (status IN ('pending', 'delivered', 'failed'));
ALTER TABLE webhook_delivery ADD CONSTRAINT delivery_due CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL));
CREATE INDEX webhook_delivery_due ON webhook_delivery (next_attempt_at) WHERE status = 'pending';

