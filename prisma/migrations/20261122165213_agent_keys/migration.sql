-- The one key of an agent that measures uptime: it is deleted with the next one, and with the agent.
ALTER TABLE "probe_agent" ADD COLUMN "key_id" UUID;
