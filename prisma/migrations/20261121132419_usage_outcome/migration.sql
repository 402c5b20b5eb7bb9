-- Charts are filtered by how requests ended, so the sums by hour are kept for each outcome. How many failed follows from it.

-- Settlements write an entry and then its sums. Those that are on their way end first, so that none is counted by halves.
LOCK TABLE ledger_entry IN SHARE MODE;

-- Everything in it can be added up again.
TRUNCATE usage_hour;

-- AlterTable
ALTER TABLE "usage_hour" DROP CONSTRAINT "usage_hour_pkey",
DROP COLUMN "failures",
ADD COLUMN     "outcome" TEXT NOT NULL,
ADD CONSTRAINT "usage_hour_pkey" PRIMARY KEY ("account_id", "hour", "model", "key_id", "outcome");

INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, input, cache_hit, cache_write_5m,
                        cache_write_1h, output, cost, charged, upstream_cost)
SELECT account_id, date_trunc('hour', created_at, 'UTC'), model, key_id, outcome, count(*), sum(input), sum(cache_hit),
       sum(cache_write_5m), sum(cache_write_1h), sum(output), sum(cost), sum(charged), coalesce(sum(upstream_cost), 0)
FROM ledger_entry GROUP BY 1, 2, 3, 4, 5;
