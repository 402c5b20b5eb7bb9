-- Other prices by what a request asked for and its vendor served: a faster or slower tier, a region, a batch. An entry keeps what was
-- asked, served and charged.

-- AlterTable
ALTER TABLE "price" ADD COLUMN     "variants" JSONB;

-- AlterTable
ALTER TABLE "route" ADD COLUMN     "cost_variants" JSONB;

-- AlterTable
ALTER TABLE "ledger_entry" ADD COLUMN     "variant" TEXT,
ADD COLUMN     "variant_asked" TEXT,
ADD COLUMN     "variant_served" TEXT;

-- One to eight variants, each with a name of its own, five prices and tiers. `margin`: as in `valid_price_tiers`.
CREATE FUNCTION valid_price_variants(variants JSONB, margin BOOLEAN) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE
SET search_path FROM CURRENT AS $$
DECLARE
  variant JSONB;
  seen TEXT[] := '{}';
  pool TEXT;
BEGIN
  IF variants IS NULL THEN RETURN true; END IF;
  IF jsonb_typeof(variants) <> 'array' OR jsonb_array_length(variants) NOT BETWEEN 1 AND 8 THEN RETURN false; END IF;
  FOR variant IN SELECT value FROM jsonb_array_elements(variants) LOOP
    IF jsonb_typeof(variant) <> 'object' OR (SELECT count(*) FROM jsonb_object_keys(variant)) <> 7
       OR jsonb_typeof(variant -> 'name') IS DISTINCT FROM 'string'
       OR (variant ->> 'name') !~ '^[a-z0-9][a-z0-9_.-]{0,31}(\+[a-z0-9][a-z0-9_.-]{0,31}){0,3}$' OR (variant ->> 'name') = ANY (seen)
       OR jsonb_typeof(variant -> 'tiers') IS DISTINCT FROM 'array'
       OR NOT valid_price_tiers(variant -> 'tiers', margin) THEN RETURN false; END IF;
    seen := seen || (variant ->> 'name');
    FOREACH pool IN ARRAY ARRAY['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] LOOP
      IF coalesce(variant ->> pool, '') !~ '^[0-9]{1,11}$' OR jsonb_typeof(variant -> pool) <> 'number' THEN RETURN false; END IF;
      IF (variant ->> pool)::BIGINT > 10000000000 THEN RETURN false; END IF;
    END LOOP;
    IF margin AND (variant ->> 'cacheHit')::BIGINT >= (variant ->> 'input')::BIGINT
       AND NOT ((variant ->> 'cacheHit')::BIGINT = 0 AND (variant ->> 'input')::BIGINT = 0) THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END $$;

ALTER TABLE price ADD CONSTRAINT price_variants CHECK (valid_price_variants(variants, true));
ALTER TABLE route ADD CONSTRAINT route_cost_variants CHECK (
  valid_price_variants(cost_variants, false) AND (cost_variants IS NULL OR cost_input IS NOT NULL));

-- Not validated: rows from before have none of them, and reading them all would lock the ledger.
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_variant CHECK (
  num_nulls(variant, variant_asked, variant_served) = 3
  OR (variant_asked IS NOT NULL AND variant_asked ~ '^[a-z0-9][a-z0-9_.-]{0,31}(\+[a-z0-9][a-z0-9_.-]{0,31}){0,3}$'
      AND coalesce(variant ~ '^[a-z0-9][a-z0-9_.-]{0,31}(\+[a-z0-9][a-z0-9_.-]{0,31}){0,3}$', true)
      AND coalesce(variant_served ~ '^[A-Za-z0-9_.+:-]{0,64}$', true))) NOT VALID;
