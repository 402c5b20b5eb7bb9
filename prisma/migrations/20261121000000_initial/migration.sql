-- CreateTable
CREATE TABLE "app_user" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "image" TEXT,
    "two_factor_enabled" BOOLEAN NOT NULL DEFAULT false,
    "operator" BOOLEAN NOT NULL DEFAULT false,
    "locale" TEXT NOT NULL DEFAULT 'en',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "app_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_session" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "token" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "user_id" UUID NOT NULL,

    CONSTRAINT "user_session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_credential" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "provider_account_id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "access_token" TEXT,
    "refresh_token" TEXT,
    "id_token" TEXT,
    "access_token_expires_at" TIMESTAMPTZ(3),
    "refresh_token_expires_at" TIMESTAMPTZ(3),
    "scope" TEXT,
    "password" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_credential_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_verification" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "identifier" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_verification_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_two_factor" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "secret" TEXT NOT NULL,
    "backup_codes" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "verified" BOOLEAN,
    "failed_verification_count" INTEGER,
    "locked_until" TIMESTAMPTZ(3),

    CONSTRAINT "user_two_factor_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "kind" TEXT NOT NULL DEFAULT 'customer',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "member" (
    "account_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "member_pkey" PRIMARY KEY ("account_id","user_id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "models" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "limit_day" BIGINT,
    "limit_month" BIGINT,
    "limit_lifetime" BIGINT,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "replaces" UUID,

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "key_spend" (
    "account_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "charged" BIGINT NOT NULL DEFAULT 0,
    "held" BIGINT NOT NULL DEFAULT 0,
    "day" DATE NOT NULL,
    "day_charged" BIGINT NOT NULL DEFAULT 0,
    "month" DATE NOT NULL,
    "month_charged" BIGINT NOT NULL DEFAULT 0,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "key_spend_pkey" PRIMARY KEY ("account_id","key_id")
);

-- CreateTable
CREATE TABLE "access_token" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_by" UUID,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "grant" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "spent" BIGINT NOT NULL DEFAULT 0,
    "held" BIGINT NOT NULL DEFAULT 0,
    "expired" BIGINT NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3),
    "source_ref" TEXT NOT NULL,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "grant_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "process" (
    "id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "process_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "hold" (
    "account_id" UUID NOT NULL,
    "request_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "process_id" UUID NOT NULL,
    "price_id" UUID NOT NULL,
    "amount" BIGINT NOT NULL,
    "grant_ids" UUID[],
    "grant_amounts" BIGINT[],
    "held_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "hold_pkey" PRIMARY KEY ("account_id","request_id")
);

-- CreateTable
CREATE TABLE "ledger_entry" (
    "account_id" UUID NOT NULL,
    "request_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "model" TEXT NOT NULL,
    "upstream" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "input" BIGINT NOT NULL,
    "cache_hit" BIGINT NOT NULL,
    "cache_write_5m" BIGINT NOT NULL,
    "cache_write_1h" BIGINT NOT NULL,
    "output" BIGINT NOT NULL,
    "price_input" BIGINT NOT NULL,
    "price_cache_hit" BIGINT NOT NULL,
    "price_cache_write_5m" BIGINT NOT NULL,
    "price_cache_write_1h" BIGINT NOT NULL,
    "price_output" BIGINT NOT NULL,
    "cost" BIGINT NOT NULL,
    "charged" BIGINT NOT NULL,
    "free_after" BIGINT NOT NULL,
    "upstream_cost" BIGINT,
    "latency_ms" INTEGER NOT NULL,
    "time_to_first_byte_ms" INTEGER,
    "outcome" TEXT NOT NULL,
    "usage_source" TEXT NOT NULL,
    "stream" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_entry_pkey" PRIMARY KEY ("account_id","request_id")
)
-- By hand: request ids are UUIDv7, so a range of ids is a range of time.
PARTITION BY RANGE ("request_id");

-- CreateTable
CREATE TABLE "posting" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "grant_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "request_id" UUID,
    "held_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "posting_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "usage_hour" (
    "account_id" UUID NOT NULL,
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "model" TEXT NOT NULL,
    "key_id" UUID NOT NULL,
    "requests" BIGINT NOT NULL DEFAULT 0,
    "failures" BIGINT NOT NULL DEFAULT 0,
    "input" BIGINT NOT NULL DEFAULT 0,
    "cache_hit" BIGINT NOT NULL DEFAULT 0,
    "cache_write_5m" BIGINT NOT NULL DEFAULT 0,
    "cache_write_1h" BIGINT NOT NULL DEFAULT 0,
    "output" BIGINT NOT NULL DEFAULT 0,
    "cost" BIGINT NOT NULL DEFAULT 0,
    "charged" BIGINT NOT NULL DEFAULT 0,
    "upstream_cost" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_hour_pkey" PRIMARY KEY ("account_id","hour","model","key_id")
);

-- CreateTable
CREATE TABLE "model" (
    "id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "family" TEXT NOT NULL,
    "context_window" INTEGER NOT NULL,
    "max_output_tokens" INTEGER NOT NULL,
    "allow" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "capabilities" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "model_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "price" (
    "id" UUID NOT NULL,
    "model_id" TEXT NOT NULL,
    "input" BIGINT NOT NULL,
    "cache_hit" BIGINT NOT NULL,
    "cache_write_5m" BIGINT,
    "cache_write_1h" BIGINT,
    "output" BIGINT NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "price_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream" (
    "id" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "base_url" TEXT NOT NULL,
    "on_disconnect" TEXT NOT NULL DEFAULT 'abort',
    "features" JSONB NOT NULL DEFAULT '{}',
    "simulated" BOOLEAN NOT NULL DEFAULT false,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "upstream_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream_key" (
    "id" UUID NOT NULL,
    "upstream_id" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "last4" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "upstream_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "route" (
    "id" UUID NOT NULL,
    "model_id" TEXT NOT NULL,
    "upstream_id" TEXT NOT NULL,
    "upstream_model" TEXT NOT NULL,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "weight" INTEGER NOT NULL DEFAULT 1,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "cost_input" BIGINT,
    "cost_cache_hit" BIGINT,
    "cost_cache_write_5m" BIGINT,
    "cost_cache_write_1h" BIGINT,
    "cost_output" BIGINT,

    CONSTRAINT "route_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "plan" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "price_vnd" BIGINT NOT NULL,
    "budget" BIGINT NOT NULL,
    "valid_days" INTEGER,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "plan_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "purchase_order" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "plan_id" TEXT NOT NULL,
    "memo" TEXT NOT NULL,
    "price_vnd" BIGINT NOT NULL,
    "budget" BIGINT NOT NULL,
    "valid_days" INTEGER,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "upgrades" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "paid_at" TIMESTAMPTZ(3),

    CONSTRAINT "purchase_order_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bank_transfer" (
    "id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "bank_reference" TEXT,
    "direction" TEXT NOT NULL,
    "amount_vnd" BIGINT NOT NULL,
    "memo" TEXT NOT NULL,
    "booked_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bank_transfer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "transfer_match" (
    "transfer_id" UUID NOT NULL,
    "order_id" UUID NOT NULL,
    "matched_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "transfer_match_pkey" PRIMARY KEY ("transfer_id")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" UUID NOT NULL,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "app_user_email_key" ON "app_user"("email");

-- CreateIndex
CREATE UNIQUE INDEX "user_session_token_key" ON "user_session"("token");

-- CreateIndex
CREATE INDEX "user_session_user_id_idx" ON "user_session"("user_id");

-- CreateIndex
CREATE INDEX "user_credential_user_id_idx" ON "user_credential"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "user_credential_provider_id_provider_account_id_key" ON "user_credential"("provider_id", "provider_account_id");

-- CreateIndex
CREATE INDEX "user_verification_identifier_idx" ON "user_verification"("identifier");

-- CreateIndex
CREATE INDEX "user_two_factor_user_id_idx" ON "user_two_factor"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "account_email_key" ON "account"("email");

-- CreateIndex
CREATE INDEX "member_user_id_idx" ON "member"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE INDEX "api_key_account_id_idx" ON "api_key"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "access_token_hash_key" ON "access_token"("hash");

-- CreateIndex
CREATE INDEX "access_token_account_id_idx" ON "access_token"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "grant_account_id_source_ref_key" ON "grant"("account_id", "source_ref");

-- CreateIndex
CREATE INDEX "hold_process_id_idx" ON "hold"("process_id");

-- CreateIndex
CREATE INDEX "posting_account_id_grant_id_idx" ON "posting"("account_id", "grant_id");

-- CreateIndex
CREATE INDEX "posting_account_id_request_id_idx" ON "posting"("account_id", "request_id");

-- CreateIndex
CREATE INDEX "usage_hour_hour_idx" ON "usage_hour"("hour");

-- CreateIndex
CREATE INDEX "price_model_id_valid_from_created_at_idx" ON "price"("model_id", "valid_from" DESC, "created_at" DESC);

-- CreateIndex
CREATE INDEX "upstream_key_upstream_id_idx" ON "upstream_key"("upstream_id");

-- CreateIndex
CREATE UNIQUE INDEX "route_model_id_upstream_id_upstream_model_key" ON "route"("model_id", "upstream_id", "upstream_model");

-- CreateIndex
CREATE UNIQUE INDEX "purchase_order_memo_key" ON "purchase_order"("memo");

-- CreateIndex
CREATE INDEX "purchase_order_account_id_created_at_idx" ON "purchase_order"("account_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "bank_transfer_provider_provider_id_key" ON "bank_transfer"("provider", "provider_id");

-- CreateIndex
CREATE INDEX "transfer_match_order_id_idx" ON "transfer_match"("order_id");

-- CreateIndex
CREATE INDEX "audit_entry_created_at_idx" ON "audit_entry"("created_at");

-- CreateIndex
CREATE INDEX "audit_entry_subject_created_at_idx" ON "audit_entry"("subject", "created_at");

-- AddForeignKey
ALTER TABLE "user_session" ADD CONSTRAINT "user_session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_credential" ADD CONSTRAINT "user_credential_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_two_factor" ADD CONSTRAINT "user_two_factor_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "member" ADD CONSTRAINT "member_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "member" ADD CONSTRAINT "member_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_token" ADD CONSTRAINT "access_token_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "grant" ADD CONSTRAINT "grant_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "price" ADD CONSTRAINT "price_model_id_fkey" FOREIGN KEY ("model_id") REFERENCES "model"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_key" ADD CONSTRAINT "upstream_key_upstream_id_fkey" FOREIGN KEY ("upstream_id") REFERENCES "upstream"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route" ADD CONSTRAINT "route_model_id_fkey" FOREIGN KEY ("model_id") REFERENCES "model"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route" ADD CONSTRAINT "route_upstream_id_fkey" FOREIGN KEY ("upstream_id") REFERENCES "upstream"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "purchase_order" ADD CONSTRAINT "purchase_order_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "purchase_order" ADD CONSTRAINT "purchase_order_plan_id_fkey" FOREIGN KEY ("plan_id") REFERENCES "plan"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transfer_match" ADD CONSTRAINT "transfer_match_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "bank_transfer"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transfer_match" ADD CONSTRAINT "transfer_match_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "purchase_order"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- ---------------------------------------------------------------------------------------------------------------
-- What the schema file cannot say. Every rule that guards money stands here a second time: the pure functions of
-- server/billing keep it, and the database refuses whatever breaks it.
-- ---------------------------------------------------------------------------------------------------------------

-- ------------------------------------------------------------------------------------------ partitions of the ledger

-- The partitions live in a schema that Prisma does not list; it would take them for tables nobody asked for.
CREATE SCHEMA ledger_partition;

-- A lower bound of every UUIDv7 made at `moment` or later, and an upper bound of every one made before. Moments that
-- 48 bits of milliseconds cannot hold ('-infinity' among them) become the first or the last that they can.
CREATE FUNCTION uuid_at(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(floor(greatest(0, least(281474976710655, extract(epoch FROM moment) * 1000)))::bigint), 12, '0')
    || '00000000000000000000')::uuid
$$;

-- Whatever carries an id from outside the known months still finds a place: a clock that is wrong must not lose a charge.
CREATE TABLE ledger_partition.ledger_elsewhere PARTITION OF ledger_entry DEFAULT;

-- Makes the monthly partitions from last month to `months` ahead and says how many were missing. Safe to call at any
-- time and from several processes. A new partition is attached rather than created in place: attaching lets the money
-- path go on writing, while CREATE TABLE ... PARTITION OF locks the whole ledger. What it cannot lock soon it leaves to
-- the next call. A month that already has rows elsewhere stays there: its rows are complete, only less well ordered.
CREATE FUNCTION ensure_ledger_partitions(months integer) RETURNS integer LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
  -- Without a time zone, and meant as UTC: adding a month to a timestamptz would use the session's zone.
  first_day timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
  month timestamp;
  low uuid;
  high uuid;
  name text;
  made integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('steyg.ledger_partitions', 0));
  FOR i IN -1..months LOOP
    month := first_day + make_interval(months => i);
    name := 'ledger_' || to_char(month, 'YYYY_MM');
    CONTINUE WHEN to_regclass('ledger_partition.' || name) IS NOT NULL;
    low := uuid_at(month AT TIME ZONE 'UTC');
    high := uuid_at((month + interval '1 month') AT TIME ZONE 'UTC');
    CONTINUE WHEN EXISTS (SELECT FROM ledger_partition.ledger_elsewhere WHERE request_id >= low AND request_id < high);
    EXECUTE format('CREATE TABLE ledger_partition.%I (LIKE ledger_entry INCLUDING ALL)', name);
    EXECUTE format('CREATE TRIGGER append_only_table BEFORE TRUNCATE ON ledger_partition.%I FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()', name);
    EXECUTE format('ALTER TABLE ledger_entry ATTACH PARTITION ledger_partition.%I FOR VALUES FROM (%L) TO (%L)', name, low, high);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;

-- --------------------------------------------------------------------------------------------------------- CHECKs
-- A CHECK lets NULL pass: where a column may be null, that is meant.

-- Prisma makes lists nullable; an absent list would slip through every rule about its length.
ALTER TABLE api_key ALTER COLUMN models SET NOT NULL;
ALTER TABLE access_token ALTER COLUMN scopes SET NOT NULL;
ALTER TABLE hold ALTER COLUMN grant_ids SET NOT NULL, ALTER COLUMN grant_amounts SET NOT NULL;
ALTER TABLE model ALTER COLUMN allow SET NOT NULL, ALTER COLUMN capabilities SET NOT NULL;

ALTER TABLE account ADD CONSTRAINT account_status CHECK (status IN ('active', 'suspended'));
ALTER TABLE account ADD CONSTRAINT account_kind CHECK (kind IN ('customer', 'probe'));
ALTER TABLE member ADD CONSTRAINT member_role CHECK (role IN ('owner', 'admin', 'member', 'viewer'));

ALTER TABLE api_key ADD CONSTRAINT api_key_limits CHECK (limit_day > 0 AND limit_month > 0 AND limit_lifetime > 0);
ALTER TABLE api_key ADD CONSTRAINT api_key_hash CHECK (length(hash) = 32);
ALTER TABLE access_token ADD CONSTRAINT access_token_hash CHECK (length(hash) = 32);
ALTER TABLE access_token ADD CONSTRAINT access_token_scopes CHECK (scopes <@ ARRAY['read', 'keys', 'billing', 'operator']);

ALTER TABLE key_spend ADD CONSTRAINT key_spend_amounts
  CHECK (charged >= 0 AND held >= 0 AND day_charged >= 0 AND month_charged >= 0 AND day_charged <= month_charged AND month_charged <= charged);

ALTER TABLE "grant" ADD CONSTRAINT grant_kind CHECK (kind IN ('trial', 'purchase', 'adjustment', 'refund'));
ALTER TABLE "grant" ADD CONSTRAINT grant_amount CHECK (amount > 0);
ALTER TABLE "grant" ADD CONSTRAINT grant_parts CHECK (spent >= 0 AND held >= 0 AND expired >= 0);
-- I1: the hard cap.
ALTER TABLE "grant" ADD CONSTRAINT grant_cap CHECK (spent + held + expired <= amount);
-- Grants with something left, in the order they are consumed and locked.
CREATE INDEX grant_open ON "grant" (account_id, expires_at, id) WHERE spent + expired < amount;

ALTER TABLE hold ADD CONSTRAINT hold_amount CHECK (amount >= 0);
-- I2, as far as one row can tell: every part names its grant, and none is negative.
ALTER TABLE hold ADD CONSTRAINT hold_parts CHECK (
  cardinality(grant_ids) = cardinality(grant_amounts)
  AND array_position(grant_ids, NULL) IS NULL AND array_position(grant_amounts, NULL) IS NULL
  AND NOT (0 > ANY (grant_amounts)));
-- Rows live for seconds: vacuum by count, not by share, so that the table stays as small as what is in flight.
ALTER TABLE hold SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, fillfactor = 80);
ALTER TABLE "grant" SET (fillfactor = 70);
ALTER TABLE key_spend SET (fillfactor = 70);
ALTER TABLE usage_hour SET (fillfactor = 80);

ALTER TABLE ledger_entry ADD CONSTRAINT ledger_pools CHECK (
  input BETWEEN 0 AND 100000000 AND cache_hit BETWEEN 0 AND 100000000 AND cache_write_5m BETWEEN 0 AND 100000000
  AND cache_write_1h BETWEEN 0 AND 100000000 AND output BETWEEN 0 AND 100000000);
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_prices CHECK (
  price_input BETWEEN 0 AND 10000000000 AND price_cache_hit BETWEEN 0 AND 10000000000
  AND price_cache_write_5m BETWEEN 0 AND 10000000000 AND price_cache_write_1h BETWEEN 0 AND 10000000000
  AND price_output BETWEEN 0 AND 10000000000);
-- I4, first half: every cost can be recomputed from its own row.
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_cost CHECK (
  cost = input * price_input + cache_hit * price_cache_hit + cache_write_5m * price_cache_write_5m
       + cache_write_1h * price_cache_write_1h + output * price_output);
-- I4 and I6: never more than the cost, and less only when nothing was left.
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_charge CHECK (charged >= 0 AND charged <= cost AND (charged = cost OR free_after = 0));
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_free CHECK (free_after >= 0);
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_upstream_cost CHECK (upstream_cost >= 0);
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_outcome CHECK (outcome IN
  ('completed', 'budget_stopped', 'client_closed', 'upstream_error', 'upstream_cut', 'timeout', 'shutdown'));
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_usage_source CHECK (usage_source IN
  ('reported', 'partial', 'clamped', 'estimated', 'none'));
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_protocol CHECK (protocol IN ('messages', 'chat-completions', 'responses'));
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_times CHECK (latency_ms >= 0 AND time_to_first_byte_ms >= 0);

ALTER TABLE posting ADD CONSTRAINT posting_kind CHECK (kind IN ('charge', 'expire'));
ALTER TABLE posting ADD CONSTRAINT posting_amount CHECK (amount > 0);
ALTER TABLE posting ADD CONSTRAINT posting_request CHECK ((kind = 'charge') = (request_id IS NOT NULL));

ALTER TABLE price ADD CONSTRAINT price_bounds CHECK (
  input BETWEEN 0 AND 10000000000 AND cache_hit BETWEEN 0 AND 10000000000 AND output BETWEEN 0 AND 10000000000
  AND cache_write_5m BETWEEN 0 AND 10000000000 AND cache_write_1h BETWEEN 0 AND 10000000000);
-- A cache hit is cheaper than new context; only a free model has both at zero.
ALTER TABLE price ADD CONSTRAINT price_cache_hit CHECK (cache_hit < input OR (cache_hit = 0 AND input = 0));

ALTER TABLE model ADD CONSTRAINT model_sizes CHECK (context_window BETWEEN 1 AND 100000000 AND max_output_tokens BETWEEN 1 AND 100000000);
ALTER TABLE upstream ADD CONSTRAINT upstream_protocol CHECK (protocol IN ('messages', 'chat-completions', 'responses'));
ALTER TABLE upstream ADD CONSTRAINT upstream_disconnect CHECK (on_disconnect IN ('abort', 'drain'));
ALTER TABLE route ADD CONSTRAINT route_weight CHECK (weight > 0);
ALTER TABLE route ADD CONSTRAINT route_costs CHECK (
  cost_input BETWEEN 0 AND 10000000000 AND cost_cache_hit BETWEEN 0 AND 10000000000 AND cost_output BETWEEN 0 AND 10000000000
  AND cost_cache_write_5m BETWEEN 0 AND 10000000000 AND cost_cache_write_1h BETWEEN 0 AND 10000000000);

ALTER TABLE plan ADD CONSTRAINT plan_amounts CHECK (price_vnd > 0 AND budget > 0 AND valid_days > 0);
ALTER TABLE purchase_order ADD CONSTRAINT order_status CHECK (status IN ('pending', 'partial', 'paid', 'expired', 'cancelled'));
ALTER TABLE purchase_order ADD CONSTRAINT order_amounts CHECK (price_vnd > 0 AND budget > 0 AND valid_days > 0);
ALTER TABLE purchase_order ADD CONSTRAINT order_paid CHECK ((status = 'paid') = (paid_at IS NOT NULL));
ALTER TABLE bank_transfer ADD CONSTRAINT transfer_direction CHECK (direction IN ('in', 'out'));
ALTER TABLE bank_transfer ADD CONSTRAINT transfer_amount CHECK (amount_vnd >= 0);

-- ---------------------------------------------------------------------------------------------------- append-only

-- Append-only tables refuse to be rewritten, whoever asks. Partitions take the row triggers over from their table.
CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON ledger_entry FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON posting FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON price FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON bank_transfer FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON transfer_match FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON posting FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON price FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON bank_transfer FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON transfer_match FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON audit_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON ledger_partition.ledger_elsewhere FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

-- --------------------------------------------------------------------------------------------------- announcements

-- Every process keeps the catalog and recent keys in memory; whoever changes them tells all, whatever program it is.
-- Not on the money path: a NOTIFY there would serialise commits.
CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('steyg_change', TG_ARGV[0]);
  RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON api_key FOR EACH STATEMENT EXECUTE FUNCTION announce_change('keys');
CREATE TRIGGER announce AFTER UPDATE ON account FOR EACH STATEMENT EXECUTE FUNCTION announce_change('keys');
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON model FOR EACH STATEMENT EXECUTE FUNCTION announce_change('catalog');
CREATE TRIGGER announce AFTER INSERT ON price FOR EACH STATEMENT EXECUTE FUNCTION announce_change('catalog');
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON route FOR EACH STATEMENT EXECUTE FUNCTION announce_change('catalog');
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON upstream FOR EACH STATEMENT EXECUTE FUNCTION announce_change('catalog');
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON upstream_key FOR EACH STATEMENT EXECUTE FUNCTION announce_change('catalog');

-- The first partitions; later ones are made while the server runs.
SELECT ensure_ledger_partitions(3);
