-- What caching saved, added up by hour beside the margins, so that a dashboard reads hours and not requests. NULL: hours that were
-- added up before; readers add up their entries.

-- AlterTable
ALTER TABLE "margin_hour" ADD COLUMN     "saved" DECIMAL(38,0);

-- A saving is at most three products of 100 million tokens and 10^10 pico-USD: within bigint for a request, not for an hour.
CREATE OR REPLACE FUNCTION add_margin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO margin_hour AS m (account_id, hour, model, upstream, requests, cost, charged, upstream_cost, unknown_requests, unknown_charged, saved)
  SELECT account_id, date_trunc('hour', created_at, 'UTC'), model, upstream, sum(requests), sum(cost), sum(charged),
         sum(upstream_cost), sum(unknown_requests), sum(unknown_charged), sum(saved)
  FROM (
    SELECT account_id, created_at, model, upstream, count(*) AS requests, sum(cost) AS cost, sum(charged) AS charged,
           coalesce(sum(upstream_cost), 0) AS upstream_cost,
           count(*) FILTER (WHERE upstream_cost IS NULL AND usage_source <> 'none') AS unknown_requests,
           coalesce(sum(charged) FILTER (WHERE upstream_cost IS NULL), 0) AS unknown_charged,
           coalesce(sum(cache_hit * (price_input - price_cache_hit) - cache_write_5m * (price_cache_write_5m - price_input)
                        - cache_write_1h * (price_cache_write_1h - price_input))
                    FILTER (WHERE cache_hit + cache_write_5m + cache_write_1h > 0 AND charged = cost AND cost > 0), 0) AS saved
    FROM entered GROUP BY account_id, created_at, model, upstream) AS moment
  GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (account_id, hour, model, upstream) DO UPDATE SET requests = m.requests + excluded.requests,
    cost = m.cost + excluded.cost, charged = m.charged + excluded.charged,
    upstream_cost = m.upstream_cost + excluded.upstream_cost,
    unknown_requests = m.unknown_requests + excluded.unknown_requests,
    unknown_charged = m.unknown_charged + excluded.unknown_charged,
    saved = m.saved + excluded.saved;
  RETURN NULL;
END $$;
