-- Uptime that others can measure: agents and their rounds, when the service itself was away, the pace and the budget of
-- probes, what operators say in the course of an incident, and how customers' requests ended.

-- AlterTable
ALTER TABLE "incident" ADD COLUMN     "cause" TEXT;

-- AlterTable
ALTER TABLE "probe_result" ADD COLUMN     "agent_id" UUID,
ADD COLUMN     "counted" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "maintenance" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "weight" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "uptime_day" ADD COLUMN     "maintenance" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "uptime_hour" ADD COLUMN     "maintenance" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "probe_agent" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "last4" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3),
    "measured_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "probe_agent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "probe_round" (
    "agent_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "digest" BYTEA NOT NULL,

    CONSTRAINT "probe_round_pkey" PRIMARY KEY ("agent_id","id")
);

-- CreateTable
CREATE TABLE "service_span" (
    "id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "service_span_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "probe_settings" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "every_minutes" INTEGER NOT NULL DEFAULT 5,
    "monthly_budget" BIGINT NOT NULL DEFAULT 20000000000000,

    CONSTRAINT "probe_settings_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "model_probing" (
    "model" TEXT NOT NULL,
    "every_minutes" INTEGER,
    "monthly_budget" BIGINT,
    "effective_minutes" INTEGER,
    "measured_since" TIMESTAMPTZ(3),
    "probed_at" TIMESTAMPTZ(3),

    CONSTRAINT "model_probing_pkey" PRIMARY KEY ("model")
);

-- CreateTable
CREATE TABLE "status_update" (
    "id" UUID NOT NULL,
    "incident_id" UUID,
    "announcement_id" UUID,
    "state" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "body_vi" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "status_update_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "request_hour" (
    "model" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "succeeded" BIGINT NOT NULL DEFAULT 0,
    "failed" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "request_hour_pkey" PRIMARY KEY ("model","protocol","hour")
);

-- CreateIndex
CREATE UNIQUE INDEX "probe_agent_hash_key" ON "probe_agent"("hash");

-- CreateIndex
CREATE INDEX "probe_round_received_at_idx" ON "probe_round"("received_at");

-- CreateIndex
CREATE INDEX "service_span_last_seen_at_idx" ON "service_span"("last_seen_at");

-- CreateIndex
CREATE INDEX "status_update_incident_id_idx" ON "status_update"("incident_id");

-- CreateIndex
CREATE INDEX "status_update_announcement_id_idx" ON "status_update"("announcement_id");

-- CreateIndex
CREATE INDEX "request_hour_hour_idx" ON "request_hour"("hour");

ALTER TABLE probe_result ADD CONSTRAINT probe_weight CHECK (weight BETWEEN 1 AND 1000);
ALTER TABLE uptime_hour ADD CONSTRAINT uptime_maintenance CHECK (maintenance >= 0);
ALTER TABLE uptime_day ADD CONSTRAINT uptime_maintenance CHECK (maintenance >= 0);
ALTER TABLE incident ADD CONSTRAINT incident_cause CHECK (cause = 'service');
ALTER TABLE probe_agent ADD CONSTRAINT probe_agent_hash CHECK (octet_length(hash) = 32);
ALTER TABLE probe_round ADD CONSTRAINT probe_round_digest CHECK (octet_length(digest) = 32);
ALTER TABLE service_span ADD CONSTRAINT service_span_times CHECK (last_seen_at >= started_at);
ALTER TABLE probe_settings ADD CONSTRAINT probe_settings_one CHECK (id = 1);
ALTER TABLE probe_settings ADD CONSTRAINT probe_settings_pace CHECK (every_minutes BETWEEN 1 AND 1440);
ALTER TABLE probe_settings ADD CONSTRAINT probe_settings_budget CHECK (monthly_budget BETWEEN 0 AND 1000000000000000000);
ALTER TABLE model_probing ADD CONSTRAINT model_probing_pace CHECK (every_minutes BETWEEN 0 AND 1440 AND effective_minutes >= 0);
ALTER TABLE model_probing ADD CONSTRAINT model_probing_budget CHECK (monthly_budget BETWEEN 0 AND 1000000000000000000);
ALTER TABLE status_update ADD CONSTRAINT status_update_subject CHECK (num_nonnulls(incident_id, announcement_id) = 1);
ALTER TABLE status_update ADD CONSTRAINT status_update_state CHECK (state IN
  ('investigating', 'identified', 'monitoring', 'resolved', 'in_progress', 'verifying', 'completed'));
ALTER TABLE request_hour ADD CONSTRAINT request_counts CHECK (succeeded >= 0 AND failed >= 0);

-- Since when each model has been measured, as far as the totals go back.
INSERT INTO model_probing (model, measured_since)
SELECT d.model, coalesce((SELECT min(h.hour) FROM uptime_hour h WHERE h.model = d.model AND h.up + h.down > 0
                          AND h.hour < (min(d.day) + 1)::timestamp AT TIME ZONE 'UTC'),
                         min(d.day)::timestamp AT TIME ZONE 'UTC')
FROM uptime_day d WHERE d.up + d.down > 0 GROUP BY d.model;
