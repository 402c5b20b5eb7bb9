-- A settlement pays less for limits and prices that it does not use. PostgreSQL prepares each CHECK of a table for each statement,
-- so rules that plain entries cannot break stand behind one short one.

-- Of an entry at a price by prompt length or by the clock, or with units.
CREATE FUNCTION further_entry_holds(prompt bigint, tier_above bigint, tier_up_to bigint, units jsonb, price_window text, priced_at timestamptz)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN coalesce(tier_above >= 1 AND prompt > tier_above, true)
    AND coalesce(tier_up_to >= 1 AND prompt <= tier_up_to, true)
    AND (units IS NULL OR units_cost(units) IS NOT NULL)
    AND (price_window IS NULL OR (priced_at IS NOT NULL AND
      price_window ~ '^(mon|tue|wed|thu|fri|sat|sun)(,(mon|tue|wed|thu|fri|sat|sun)){0,6} \d\d:\d\d-\d\d:\d\d [A-Za-z][A-Za-z0-9_+/-]{0,63}$'));
END $$;

-- Not validated: the rules that it replaces held for the rows that are there.
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_further CHECK (
  num_nulls(tier_above, tier_up_to, units, price_window) = 4
  OR further_entry_holds(input + cache_hit + cache_write_5m + cache_write_1h, tier_above, tier_up_to, units, price_window, priced_at)) NOT VALID;
ALTER TABLE ledger_entry DROP CONSTRAINT ledger_tier;
ALTER TABLE ledger_entry DROP CONSTRAINT ledger_tier_end;
ALTER TABLE ledger_entry DROP CONSTRAINT ledger_units;
ALTER TABLE ledger_entry DROP CONSTRAINT ledger_price_window;

-- As before, and the sums of the week are taken from the row as it was, too: a statement may have moved them already.
CREATE OR REPLACE FUNCTION count_key_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := NEW.charged;
  today date;
  this_week date;
  this_month date;
  minutes integer;
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT a.time_zone, l.account_id IS NOT NULL INTO NEW.time_zone, NEW.account_limited
    FROM account a LEFT JOIN account_limit l ON l.account_id = a.id WHERE a.id = NEW.account_id;
    NEW.time_zone := coalesce(NEW.time_zone, 'UTC');
    NEW.account_limited := coalesce(NEW.account_limited, false);
    SELECT burn_minutes INTO minutes FROM api_key WHERE id = NEW.key_id;
    IF minutes IS NOT NULL THEN
      NEW.burn_seconds := minutes;
      NEW.burn_step := 0;
      NEW.burn_charged := array_fill(0, ARRAY[61]);
    END IF;
    today := (now() AT TIME ZONE NEW.time_zone)::date;
    NEW.week := date_trunc('week', today::timestamp)::date;
    NEW.week_charged := added;
    -- The first version says the day and the month itself, those of UTC.
    IF NEW.day IS NULL OR NEW.time_zone <> 'UTC' THEN
      NEW.day := today;
      NEW.day_charged := added;
      NEW.month := date_trunc('month', today::timestamp)::date;
      NEW.month_charged := added;
    END IF;
  ELSE
    added := NEW.charged - OLD.charged;
    NEW.day := OLD.day;
    NEW.day_charged := OLD.day_charged;
    NEW.week := OLD.week;
    NEW.week_charged := OLD.week_charged;
    NEW.month := OLD.month;
    NEW.month_charged := OLD.month_charged;
    today := (now() AT TIME ZONE NEW.time_zone)::date;
    IF NEW.day = today THEN
      NEW.day_charged := NEW.day_charged + added;
      NEW.week_charged := NEW.week_charged + added;
      NEW.month_charged := NEW.month_charged + added;
    ELSE
      this_week := date_trunc('week', today::timestamp)::date;
      this_month := date_trunc('month', today::timestamp)::date;
      IF today > NEW.day THEN
        NEW.day := today;
        NEW.day_charged := added;
      END IF;
      NEW.week_charged := CASE WHEN this_week > NEW.week THEN 0 ELSE NEW.week_charged END + CASE WHEN this_week >= NEW.week THEN added ELSE 0 END;
      NEW.week := greatest(NEW.week, this_week);
      NEW.month_charged := CASE WHEN this_month > NEW.month THEN 0 ELSE NEW.month_charged END + CASE WHEN this_month >= NEW.month THEN added ELSE 0 END;
      NEW.month := greatest(NEW.month, this_month);
    END IF;
  END IF;
  IF NEW.burn_seconds IS NOT NULL AND added <> 0 THEN
    NEW := turned_burn(NEW, floor(extract(epoch FROM now()) / NEW.burn_seconds)::bigint);
    NEW.burn_charged[NEW.burn_step % 61 + 1] := NEW.burn_charged[NEW.burn_step % 61 + 1] + added;
  END IF;
  RETURN NEW;
END $$;

-- This version's statements move the sums of the day, the week and the month themselves; that is right for a key without a burn
-- window whose sums are of today. In all other cases, and for the previous version's statements, the trigger counts.
DROP TRIGGER count_charged ON key_spend;
CREATE TRIGGER count_charged BEFORE UPDATE OF charged ON key_spend FOR EACH ROW
  WHEN (NEW.charged IS DISTINCT FROM OLD.charged AND NOT (
    NEW.burn_seconds IS NULL AND NEW.day = OLD.day AND NEW.day = (now() AT TIME ZONE NEW.time_zone)::date
    AND NEW.day_charged - OLD.day_charged = NEW.charged - OLD.charged AND NEW.week_charged - OLD.week_charged = NEW.charged - OLD.charged
    AND NEW.month_charged - OLD.month_charged = NEW.charged - OLD.charged)) EXECUTE FUNCTION count_key_spend();
