-- What images cost: their tokens, which vendors count apart from those of text, or one image by its quality and size. And the kind of
-- model that makes them.

-- AlterTable
ALTER TABLE "price" ADD COLUMN     "images" JSONB;

-- AlterTable
ALTER TABLE "route" ADD COLUMN     "cost_images" JSONB;

-- `{"tokens"?: {"input", "cacheHit", "output"}, "each"?: [{"quality"?, "size"?, "upToPixels"?, "price"}]}`: whole pico-USD, a token
-- at most 10,000 USD per million, an image at most 10 USD.
CREATE FUNCTION valid_image_prices(images JSONB) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  pool TEXT;
  line JSONB;
BEGIN
  IF images IS NULL THEN RETURN true; END IF;
  IF jsonb_typeof(images) <> 'object' OR NOT (images ? 'tokens' OR images ? 'each') THEN RETURN false; END IF;
  IF images ? 'tokens' THEN
    FOREACH pool IN ARRAY ARRAY['input', 'cacheHit', 'output'] LOOP
      IF coalesce((images -> 'tokens' -> pool)::TEXT, '') !~ '^[0-9]{1,11}$' THEN RETURN false; END IF;
      IF (images -> 'tokens' ->> pool)::BIGINT > 10000000000 THEN RETURN false; END IF;
    END LOOP;
  END IF;
  IF NOT images ? 'each' THEN RETURN true; END IF;
  IF jsonb_typeof(images -> 'each') <> 'array' OR jsonb_array_length(images -> 'each') NOT BETWEEN 1 AND 64 THEN RETURN false; END IF;
  FOR line IN SELECT value FROM jsonb_array_elements(images -> 'each') LOOP
    IF jsonb_typeof(line) <> 'object' OR coalesce((line -> 'price')::TEXT, '') !~ '^[0-9]{1,14}$' THEN RETURN false; END IF;
    IF (line ->> 'price')::BIGINT > 10000000000000 THEN RETURN false; END IF;
    IF jsonb_typeof(coalesce(line -> 'quality', '""')) <> 'string' OR jsonb_typeof(coalesce(line -> 'size', '""')) <> 'string'
       OR coalesce((line -> 'upToPixels')::TEXT, '1') !~ '^[1-9][0-9]{0,9}$' THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END $$;

ALTER TABLE price ADD CONSTRAINT price_images CHECK (valid_image_prices(images));
ALTER TABLE route ADD CONSTRAINT route_cost_images CHECK (
  valid_image_prices(cost_images) AND (cost_images IS NULL OR cost_input IS NOT NULL));

ALTER TABLE model DROP CONSTRAINT model_kind;
ALTER TABLE model ADD CONSTRAINT model_kind CHECK (kind IN ('text', 'embedding', 'image'));
