-- What vendors say that they billed, by upstream, day (UTC) and their name of the model; a later file replaces a day.
CREATE TABLE "vendor_usage" (
    "upstream" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "model" TEXT NOT NULL,
    "requests" BIGINT,
    "input" BIGINT NOT NULL,
    "cache_hit" BIGINT NOT NULL,
    "cache_write" BIGINT NOT NULL,
    "output" BIGINT NOT NULL,
    "cost" BIGINT,
    "source" TEXT NOT NULL,
    "imported_by" TEXT NOT NULL,
    "imported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "vendor_usage_pkey" PRIMARY KEY ("upstream","day","model")
);
ALTER TABLE vendor_usage ADD CONSTRAINT vendor_usage_figures CHECK (
  requests >= 0 AND input >= 0 AND cache_hit >= 0 AND cache_write >= 0 AND output >= 0 AND cost >= 0);
ALTER TABLE vendor_usage ADD CONSTRAINT vendor_usage_source CHECK (source IN ('openai', 'anthropic', 'generic'));

-- A month that was closed: its figures never change again. `totals` is everything up to its end as it was known then,
-- so that what becomes known later is a figure of the next month.
CREATE TABLE "closed_month" (
    "month" DATE NOT NULL,
    "previous" DATE,
    "time_zone" TEXT NOT NULL,
    "revenue_vnd" BIGINT NOT NULL,
    "charged" BIGINT NOT NULL,
    "charged_paid" BIGINT NOT NULL,
    "trial_cost" BIGINT NOT NULL,
    "expired" BIGINT NOT NULL,
    "shortfall" BIGINT NOT NULL,
    "upstream_cost" BIGINT NOT NULL,
    "unknown_charged" BIGINT NOT NULL,
    "unused" BIGINT NOT NULL,
    "margin" BIGINT NOT NULL,
    "totals" JSONB NOT NULL,
    "closed_by" TEXT NOT NULL,
    "closed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "closed_month_pkey" PRIMARY KEY ("month")
);
ALTER TABLE "closed_month" ADD CONSTRAINT "closed_month_previous_fkey" FOREIGN KEY ("previous") REFERENCES "closed_month"("month") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE closed_month ADD CONSTRAINT closed_month_first_day CHECK (month = date_trunc('month', month::timestamp)::date);
-- Months are closed one after the other, without a gap, and there is one first.
ALTER TABLE closed_month ADD CONSTRAINT closed_month_in_order CHECK (previous = (month - interval '1 month')::date);
CREATE UNIQUE INDEX closed_month_one_first ON closed_month ((true)) WHERE previous IS NULL;
ALTER TABLE closed_month ADD CONSTRAINT closed_month_margin CHECK (margin = charged - unknown_charged - upstream_cost);
ALTER TABLE closed_month ADD CONSTRAINT closed_month_unused CHECK (unused >= 0);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON closed_month FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON closed_month FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
