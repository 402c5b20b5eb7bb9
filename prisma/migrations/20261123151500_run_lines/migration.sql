-- A request can be several models: one that declined it and one that served it, an advisor. An entry keeps the runs of other models as
-- lines, each with its tokens at a price of its own.

-- AlterTable
ALTER TABLE "ledger_entry" ADD COLUMN     "lines" JSONB;

-- Cost of the lines of an entry, `[{"model", "tokens": {pool: count}, "prices": {pool: price}}]`; null where they make no sense.
-- Pools and prices have the bounds of the entry's own.
CREATE FUNCTION lines_cost(lines JSONB) RETURNS BIGINT LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  line JSONB;
  pool TEXT;
  total NUMERIC := 0;
BEGIN
  IF lines IS NULL THEN RETURN 0; END IF;
  IF jsonb_typeof(lines) <> 'array' OR jsonb_array_length(lines) NOT BETWEEN 1 AND 32 THEN RETURN NULL; END IF;
  FOR line IN SELECT value FROM jsonb_array_elements(lines) LOOP
    IF jsonb_typeof(line) <> 'object' OR jsonb_typeof(line -> 'model') IS DISTINCT FROM 'string'
       OR length(line ->> 'model') NOT BETWEEN 1 AND 256 OR jsonb_typeof(line -> 'tokens') IS DISTINCT FROM 'object'
       OR jsonb_typeof(line -> 'prices') IS DISTINCT FROM 'object' THEN RETURN NULL; END IF;
    FOREACH pool IN ARRAY ARRAY['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] LOOP
      IF coalesce((line -> 'tokens' -> pool)::TEXT, '') !~ '^[0-9]{1,9}$'
         OR coalesce((line -> 'prices' -> pool)::TEXT, '') !~ '^[0-9]{1,11}$' THEN RETURN NULL; END IF;
      IF (line -> 'tokens' ->> pool)::BIGINT > 100000000 OR (line -> 'prices' ->> pool)::BIGINT > 10000000000 THEN RETURN NULL; END IF;
      total := total + (line -> 'tokens' ->> pool)::NUMERIC * (line -> 'prices' ->> pool)::NUMERIC;
    END LOOP;
  END LOOP;
  IF total > 9000000000000000000 THEN RETURN NULL; END IF;
  RETURN total::BIGINT;
END $$;

-- Not validated: earlier rows have no lines and satisfy what they were written under. One rule holds for both: lines that make
-- no sense leave a cost below zero, which no entry may have.
ALTER TABLE ledger_entry DROP CONSTRAINT ledger_cost;
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_cost CHECK (
  cost = input * price_input + cache_hit * price_cache_hit + cache_write_5m * price_cache_write_5m
       + cache_write_1h * price_cache_write_1h + output * price_output
       + CASE WHEN units IS NULL THEN 0 ELSE units_cost(units) END
       + CASE WHEN lines IS NULL THEN 0 ELSE coalesce(lines_cost(lines), -9000000000000000000) END) NOT VALID;
