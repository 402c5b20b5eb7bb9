-- What came in and what the upstreams cost, by hour, account, model and upstream. Requests whose cost at the upstream is not
-- known are counted apart: they have no margin.

-- CreateTable
CREATE TABLE "margin_hour" (
    "account_id" UUID NOT NULL,
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "model" TEXT NOT NULL,
    "upstream" TEXT NOT NULL,
    "requests" BIGINT NOT NULL DEFAULT 0,
    "cost" BIGINT NOT NULL DEFAULT 0,
    "charged" BIGINT NOT NULL DEFAULT 0,
    "upstream_cost" BIGINT NOT NULL DEFAULT 0,
    "unknown_requests" BIGINT NOT NULL DEFAULT 0,
    "unknown_charged" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "margin_hour_pkey" PRIMARY KEY ("account_id","hour","model","upstream")
);

-- CreateIndex
CREATE INDEX "margin_hour_hour_idx" ON "margin_hour"("hour");

-- In the transaction that writes the entries, whichever version of the server writes them. Sorted, so that two transactions
-- touch the same rows in the same order. A request that used nothing costs the upstream nothing.
CREATE FUNCTION add_margin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO margin_hour AS m (account_id, hour, model, upstream, requests, cost, charged, upstream_cost, unknown_requests, unknown_charged)
  SELECT account_id, date_trunc('hour', created_at, 'UTC'), model, upstream, count(*), sum(cost), sum(charged),
         coalesce(sum(upstream_cost), 0), count(*) FILTER (WHERE upstream_cost IS NULL AND usage_source <> 'none'),
         coalesce(sum(charged) FILTER (WHERE upstream_cost IS NULL), 0)
  FROM entered GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (account_id, hour, model, upstream) DO UPDATE SET requests = m.requests + excluded.requests,
    cost = m.cost + excluded.cost, charged = m.charged + excluded.charged,
    upstream_cost = m.upstream_cost + excluded.upstream_cost,
    unknown_requests = m.unknown_requests + excluded.unknown_requests,
    unknown_charged = m.unknown_charged + excluded.unknown_charged;
  RETURN NULL;
END $$;

-- Of hours that are long over, while requests go on: entries are append-only, they have the time at which their transaction began, and
-- none of these runs for an hour.
INSERT INTO margin_hour (account_id, hour, model, upstream, requests, cost, charged, upstream_cost, unknown_requests, unknown_charged)
SELECT account_id, date_trunc('hour', created_at, 'UTC'), model, upstream, count(*), sum(cost), sum(charged),
       coalesce(sum(upstream_cost), 0), count(*) FILTER (WHERE upstream_cost IS NULL AND usage_source <> 'none'),
       coalesce(sum(charged) FILTER (WHERE upstream_cost IS NULL), 0)
FROM ledger_entry WHERE created_at < date_trunc('hour', now(), 'UTC') - interval '1 hour' GROUP BY 1, 2, 3, 4;

-- From here on, the money path waits.

CREATE TRIGGER add_margin AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS entered
  FOR EACH STATEMENT EXECUTE FUNCTION add_margin();

-- The trigger's lock keeps writers out until this is committed, so that nothing is missed or counted twice.
INSERT INTO margin_hour (account_id, hour, model, upstream, requests, cost, charged, upstream_cost, unknown_requests, unknown_charged)
SELECT account_id, date_trunc('hour', created_at, 'UTC'), model, upstream, count(*), sum(cost), sum(charged),
       coalesce(sum(upstream_cost), 0), count(*) FILTER (WHERE upstream_cost IS NULL AND usage_source <> 'none'),
       coalesce(sum(charged) FILTER (WHERE upstream_cost IS NULL), 0)
FROM ledger_entry WHERE created_at >= date_trunc('hour', now(), 'UTC') - interval '1 hour' GROUP BY 1, 2, 3, 4;
