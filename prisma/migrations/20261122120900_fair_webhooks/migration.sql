-- Endpoints that do not answer promptly must not keep the deliveries of others waiting.
ALTER TABLE "webhook_endpoint" ADD COLUMN "slow_since" TIMESTAMPTZ(3);
-- Tests and replays are asked for by a person; they are throttled, and events are not.
ALTER TABLE "webhook_delivery" ADD COLUMN "by_hand" BOOLEAN NOT NULL DEFAULT false;
