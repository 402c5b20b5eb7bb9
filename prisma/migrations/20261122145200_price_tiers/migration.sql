-- Prices by prompt length: above a number of prompt tokens the whole request is charged at another set of five prices.

-- AlterTable
ALTER TABLE "price" ADD COLUMN     "max_prompt_tokens" INTEGER,
ADD COLUMN     "tiers" JSONB NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "route" ADD COLUMN     "cost_tiers" JSONB NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "ledger_entry" ADD COLUMN     "tier_above" BIGINT,
ADD COLUMN     "tier_up_to" BIGINT;

-- At most four sets, rising by their bound; each has all five prices, whole pico-USD per token. `margin`: whether a cache
-- hit has to be cheaper than new context, as for customers.
CREATE FUNCTION valid_price_tiers(tiers JSONB, margin BOOLEAN) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  tier JSONB;
  name TEXT;
  bound BIGINT := 0;
BEGIN
  IF jsonb_typeof(tiers) <> 'array' OR jsonb_array_length(tiers) > 4 THEN RETURN false; END IF;
  FOR tier IN SELECT value FROM jsonb_array_elements(tiers) LOOP
    IF jsonb_typeof(tier) <> 'object' OR (SELECT count(*) FROM jsonb_object_keys(tier)) <> 6 THEN RETURN false; END IF;
    FOREACH name IN ARRAY ARRAY['abovePromptTokens', 'input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] LOOP
      IF coalesce(tier ->> name, '') !~ '^[0-9]{1,11}$' OR jsonb_typeof(tier -> name) <> 'number' THEN RETURN false; END IF;
      IF (tier ->> name)::BIGINT > (CASE name WHEN 'abovePromptTokens' THEN 100000000 ELSE 10000000000 END) THEN RETURN false; END IF;
    END LOOP;
    IF (tier ->> 'abovePromptTokens')::BIGINT <= bound THEN RETURN false; END IF;
    bound := (tier ->> 'abovePromptTokens')::BIGINT;
    IF margin AND (tier ->> 'cacheHit')::BIGINT >= (tier ->> 'input')::BIGINT
       AND NOT ((tier ->> 'cacheHit')::BIGINT = 0 AND (tier ->> 'input')::BIGINT = 0) THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END $$;

ALTER TABLE price ADD CONSTRAINT price_tiers CHECK (valid_price_tiers(tiers, true));
ALTER TABLE price ADD CONSTRAINT price_max_prompt CHECK (max_prompt_tokens BETWEEN 1 AND 100000000);
ALTER TABLE route ADD CONSTRAINT route_cost_tiers CHECK (
  valid_price_tiers(cost_tiers, false) AND (cost_tiers = '[]' OR cost_input IS NOT NULL));

-- Which tier applied can be checked from the entry alone: its prompt lies within the bounds. Not validated: rows from before
-- have no bounds, and reading them all would lock the ledger.
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_tier CHECK (
  tier_above >= 1 AND input + cache_hit + cache_write_5m + cache_write_1h > tier_above) NOT VALID;
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_tier_end CHECK (
  tier_up_to >= 1 AND input + cache_hit + cache_write_5m + cache_write_1h <= tier_up_to) NOT VALID;
