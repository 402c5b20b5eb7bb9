-- What vendors charge by the piece: searches, images, minutes. An entry keeps how many of each, and at which price.

-- AlterTable
ALTER TABLE "price" ADD COLUMN     "per_unit" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "route" ADD COLUMN     "cost_per_unit" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "ledger_entry" ADD COLUMN     "units" JSONB;

-- Whole pico-USD for one of each, at most 10 USD.
CREATE FUNCTION valid_unit_prices(prices JSONB) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(prices) <> 'object' THEN false ELSE NOT EXISTS (
    SELECT FROM jsonb_each(prices) AS price
    WHERE key NOT IN ('search', 'image', 'minute') OR value::TEXT !~ '^[0-9]{1,14}$'
       OR CASE WHEN value::TEXT ~ '^[0-9]{1,14}$' THEN value::TEXT::NUMERIC > 10000000000000 END) END
$$;

-- Cost of the units of an entry, `[{"unit", "count", "price"}]`; null where they make no sense. Each unit once, at most
-- 100,000 of it, so that no cost overflows.
CREATE FUNCTION units_cost(units JSONB) RETURNS BIGINT LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  line JSONB;
  seen TEXT[] := '{}';
  total BIGINT := 0;
BEGIN
  IF units IS NULL THEN RETURN 0; END IF;
  IF jsonb_typeof(units) <> 'array' OR jsonb_array_length(units) NOT BETWEEN 1 AND 3 THEN RETURN NULL; END IF;
  FOR line IN SELECT value FROM jsonb_array_elements(units) LOOP
    IF jsonb_typeof(line) <> 'object' OR coalesce(line ->> 'unit', '') NOT IN ('search', 'image', 'minute')
       OR (line ->> 'unit') = ANY (seen) OR coalesce((line -> 'count')::TEXT, '') !~ '^[0-9]{1,6}$'
       OR coalesce((line -> 'price')::TEXT, '') !~ '^[0-9]{1,14}$' THEN RETURN NULL; END IF;
    IF (line ->> 'count')::BIGINT NOT BETWEEN 1 AND 100000 OR (line ->> 'price')::BIGINT > 10000000000000 THEN RETURN NULL; END IF;
    seen := seen || (line ->> 'unit');
    total := total + (line ->> 'count')::BIGINT * (line ->> 'price')::BIGINT;
  END LOOP;
  RETURN total;
END $$;

ALTER TABLE price ADD CONSTRAINT price_per_unit CHECK (valid_unit_prices(per_unit));
ALTER TABLE route ADD CONSTRAINT route_cost_per_unit CHECK (
  valid_unit_prices(cost_per_unit) AND (cost_per_unit = '{}' OR cost_input IS NOT NULL));

-- Not validated: earlier rows have no units and satisfy what they were written under, and reading them would lock the ledger.
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_units CHECK (units IS NULL OR units_cost(units) IS NOT NULL) NOT VALID;
ALTER TABLE ledger_entry DROP CONSTRAINT ledger_cost;
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_cost CHECK (
  cost = input * price_input + cache_hit * price_cache_hit + cache_write_5m * price_cache_write_5m
       + cache_write_1h * price_cache_write_1h + output * price_output
       + CASE WHEN units IS NULL THEN 0 ELSE units_cost(units) END) NOT VALID;
