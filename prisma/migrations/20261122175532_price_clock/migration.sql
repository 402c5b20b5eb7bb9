-- Prices by the clock: for some hours of the week the whole request is charged at another set of prices.

-- AlterTable
ALTER TABLE "price" ADD COLUMN     "clock" JSONB;

-- AlterTable
ALTER TABLE "route" ADD COLUMN     "cost_clock" JSONB;

-- AlterTable
ALTER TABLE "ledger_entry" ADD COLUMN     "price_window" TEXT,
ADD COLUMN     "priced_at" TIMESTAMPTZ(3);

-- One time zone, days without windows, and one to four windows: days, periods, five prices and tiers of each. That windows
-- have no minute in common is left to the server. `margin`: as in `valid_price_tiers`.
CREATE FUNCTION valid_price_clock(clock JSONB, margin BOOLEAN) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  price_window JSONB;
  name TEXT;
BEGIN
  IF clock IS NULL THEN RETURN true; END IF;
  IF jsonb_typeof(clock) <> 'object' OR (SELECT count(*) FROM jsonb_object_keys(clock)) <> 3
     OR coalesce(clock ->> 'timeZone', '') !~ '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$'
     OR coalesce(jsonb_typeof(clock -> 'exceptDates'), '') <> 'array' OR coalesce(jsonb_typeof(clock -> 'windows'), '') <> 'array'
     OR jsonb_array_length(clock -> 'exceptDates') > 400
     OR jsonb_array_length(clock -> 'windows') NOT BETWEEN 1 AND 4 THEN RETURN false; END IF;
  IF EXISTS (SELECT FROM jsonb_array_elements_text(clock -> 'exceptDates') AS day WHERE day !~ '^\d{4}-\d{2}-\d{2}$') THEN RETURN false; END IF;
  FOR price_window IN SELECT value FROM jsonb_array_elements(clock -> 'windows') LOOP
    IF jsonb_typeof(price_window) <> 'object' OR (SELECT count(*) FROM jsonb_object_keys(price_window)) <> 8
       OR coalesce(jsonb_typeof(price_window -> 'days'), '') <> 'array' OR coalesce(jsonb_typeof(price_window -> 'hours'), '') <> 'array'
       OR jsonb_array_length(price_window -> 'days') NOT BETWEEN 1 AND 7
       OR jsonb_array_length(price_window -> 'hours') NOT BETWEEN 1 AND 4
       OR coalesce(jsonb_typeof(price_window -> 'tiers'), '') <> 'array'
       OR NOT valid_price_tiers(price_window -> 'tiers', margin) THEN RETURN false; END IF;
    IF EXISTS (SELECT FROM jsonb_array_elements_text(price_window -> 'days') AS day
               WHERE day NOT IN ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'))
       OR EXISTS (SELECT FROM jsonb_array_elements_text(price_window -> 'hours') AS period
                  WHERE period !~ '^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$') THEN RETURN false; END IF;
    FOREACH name IN ARRAY ARRAY['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] LOOP
      IF coalesce(price_window ->> name, '') !~ '^[0-9]{1,11}$' OR jsonb_typeof(price_window -> name) <> 'number' THEN RETURN false; END IF;
      IF (price_window ->> name)::BIGINT > 10000000000 THEN RETURN false; END IF;
    END LOOP;
    IF margin AND (price_window ->> 'cacheHit')::BIGINT >= (price_window ->> 'input')::BIGINT
       AND NOT ((price_window ->> 'cacheHit')::BIGINT = 0 AND (price_window ->> 'input')::BIGINT = 0) THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END $$;

ALTER TABLE price ADD CONSTRAINT price_clock CHECK (valid_price_clock(clock, true));
ALTER TABLE route ADD CONSTRAINT route_cost_clock CHECK (
  valid_price_clock(cost_clock, false) AND (cost_clock IS NULL OR cost_input IS NOT NULL));

-- What the clock showed: `mon,tue 09:00-12:00 Asia/Shanghai`, or no window, at a moment. Not validated: rows from before have
-- neither, and reading them all would lock the ledger.
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_price_window CHECK (
  price_window IS NULL OR (priced_at IS NOT NULL AND
    price_window ~ '^(mon|tue|wed|thu|fri|sat|sun)(,(mon|tue|wed|thu|fri|sat|sun)){0,6} \d\d:\d\d-\d\d:\d\d [A-Za-z][A-Za-z0-9_+/-]{0,63}$')) NOT VALID;
