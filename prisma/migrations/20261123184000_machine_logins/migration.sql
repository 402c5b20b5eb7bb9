-- Machines that wait for a person to give them a key (RFC 8628). A row lives for minutes, and ends when the key is fetched.
CREATE TABLE "machine_login" (
    "id" UUID NOT NULL,
    "device_hash" BYTEA NOT NULL,
    "user_code_hash" BYTEA NOT NULL,
    "machine" TEXT NOT NULL,
    "ip_address" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "interval_seconds" INTEGER NOT NULL,
    "polled_at" TIMESTAMPTZ(3),
    "decision" TEXT,
    "user_id" UUID,
    "account_id" UUID,
    "project_id" UUID,
    "key_name" TEXT,
    "limit_day" BIGINT,
    "limit_week" BIGINT,
    "limit_month" BIGINT,
    "limit_lifetime" BIGINT,
    CONSTRAINT "machine_login_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "machine_login_hashes" CHECK (octet_length("device_hash") = 32 AND octet_length("user_code_hash") = 32),
    CONSTRAINT "machine_login_machine" CHECK (char_length("machine") BETWEEN 1 AND 100),
    CONSTRAINT "machine_login_interval" CHECK ("interval_seconds" BETWEEN 1 AND 600),
    -- Who decided is known, and whoever approved said where the key is to lie and what it is called.
    CONSTRAINT "machine_login_decision" CHECK (CASE coalesce("decision", 'waiting')
      WHEN 'waiting' THEN num_nonnulls("user_id", "account_id", "project_id", "key_name", "limit_day", "limit_week", "limit_month", "limit_lifetime") = 0
      WHEN 'denied' THEN "user_id" IS NOT NULL AND "account_id" IS NULL
      WHEN 'approved' THEN num_nonnulls("user_id", "account_id", "key_name") = 3
      ELSE false END),
    CONSTRAINT "machine_login_limits" CHECK ("limit_day" > 0 AND "limit_week" > 0 AND "limit_month" > 0 AND "limit_lifetime" > 0)
);
CREATE UNIQUE INDEX "machine_login_device_hash_key" ON "machine_login"("device_hash");
CREATE UNIQUE INDEX "machine_login_user_code_hash_key" ON "machine_login"("user_code_hash");
CREATE INDEX "machine_login_expires_at_idx" ON "machine_login"("expires_at");
CREATE INDEX "machine_login_user_id_idx" ON "machine_login"("user_id");
ALTER TABLE "machine_login" ADD CONSTRAINT "machine_login_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
