-- Spending limits of keys and accounts by day, week, month and in all, in the time zone of the account, and the burn limit of
-- a key. The windows are counted by a trigger, so that the charges of the previous version count as well.

-- AlterTable
ALTER TABLE "account" ADD COLUMN     "time_zone" TEXT NOT NULL DEFAULT 'UTC';

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "burn_limit" BIGINT,
ADD COLUMN     "burn_minutes" INTEGER,
ADD COLUMN     "limit_week" BIGINT;

-- AlterTable
ALTER TABLE "key_spend" ADD COLUMN     "account_limited" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "burn_charged" BIGINT[],
ADD COLUMN     "burn_seconds" INTEGER,
ADD COLUMN     "burn_step" BIGINT,
ADD COLUMN     "time_zone" TEXT NOT NULL DEFAULT 'UTC',
ADD COLUMN     "week" DATE,
ADD COLUMN     "week_charged" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "account_limit" (
    "account_id" UUID NOT NULL,
    "limit_day" BIGINT,
    "limit_week" BIGINT,
    "limit_month" BIGINT,
    "limit_lifetime" BIGINT,
    "charged" BIGINT NOT NULL DEFAULT 0,
    "held" BIGINT NOT NULL DEFAULT 0,
    "time_zone" TEXT NOT NULL DEFAULT 'UTC',
    "day" DATE,
    "day_charged" BIGINT NOT NULL DEFAULT 0,
    "week" DATE,
    "week_charged" BIGINT NOT NULL DEFAULT 0,
    "month" DATE,
    "month_charged" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "account_limit_pkey" PRIMARY KEY ("account_id")
);

-- AddForeignKey
ALTER TABLE "account_limit" ADD CONSTRAINT "account_limit_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE FUNCTION is_time_zone(name text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM timestamptz '2026-01-01T00:00:00Z' AT TIME ZONE name;
  RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN false;
END $$;

ALTER TABLE account ADD CONSTRAINT account_time_zone CHECK (is_time_zone(time_zone));
ALTER TABLE account_limit ADD CONSTRAINT account_limit_limits CHECK (limit_day > 0 AND limit_week > 0 AND limit_month > 0 AND limit_lifetime > 0);
ALTER TABLE account_limit ADD CONSTRAINT account_limit_amounts CHECK (held >= 0 AND least(day_charged, week_charged, month_charged) >= 0
  AND day_charged <= least(week_charged, month_charged) AND greatest(week_charged, month_charged) <= charged);
ALTER TABLE api_key ADD CONSTRAINT api_key_limit_week CHECK (limit_week > 0);
ALTER TABLE api_key ADD CONSTRAINT api_key_burn CHECK ((burn_limit IS NULL) = (burn_minutes IS NULL) AND coalesce(burn_limit > 0 AND burn_minutes BETWEEN 1 AND 1440, true));
ALTER TABLE key_spend ADD CONSTRAINT key_spend_burn CHECK (coalesce(burn_seconds > 0 AND cardinality(burn_charged) = 61, true));

-- The charges of a key's latest steps, each of a sixtieth of its burn window: 61 of them contain the window.
CREATE FUNCTION turned_burn(spend key_spend, this_step bigint) RETURNS key_spend LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  FOR passed IN greatest(spend.burn_step + 1, this_step - 60) .. this_step LOOP
    spend.burn_charged[passed % 61 + 1] := 0;
  END LOOP;
  spend.burn_step := greatest(spend.burn_step, this_step);
  RETURN spend;
END $$;

-- Adds what a key is charged to the windows that the moment of the transaction belongs to. A transaction that began before
-- midnight may follow one that began later: its charge belongs to the past day.
CREATE FUNCTION count_key_spend() RETURNS trigger LANGUAGE plpgsql AS $$
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
    -- The previous version says the day and the month itself, those of UTC.
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

CREATE TRIGGER count_inserted BEFORE INSERT ON key_spend FOR EACH ROW EXECUTE FUNCTION count_key_spend();
CREATE TRIGGER count_charged BEFORE UPDATE OF charged ON key_spend FOR EACH ROW
  WHEN (NEW.charged IS DISTINCT FROM OLD.charged) EXECUTE FUNCTION count_key_spend();

-- Moves the sums of a limited account as those of its keys move. Deferred: all rows of keys are locked first, so that two
-- transactions with several keys of one account wait for each other and never in a circle.
CREATE FUNCTION count_account_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := NEW.charged;
  held_more bigint := NEW.held;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    added := NEW.charged - OLD.charged;
    held_more := NEW.held - OLD.held;
  END IF;
  UPDATE account_limit l SET charged = l.charged + added, held = l.held + held_more,
    day = greatest(l.day, n.day), week = greatest(l.week, n.week), month = greatest(l.month, n.month),
    day_charged = CASE WHEN n.day > l.day THEN 0 ELSE l.day_charged END + CASE WHEN n.day >= l.day THEN added ELSE 0 END,
    week_charged = CASE WHEN n.week > l.week THEN 0 ELSE l.week_charged END + CASE WHEN n.week >= l.week THEN added ELSE 0 END,
    month_charged = CASE WHEN n.month > l.month THEN 0 ELSE l.month_charged END + CASE WHEN n.month >= l.month THEN added ELSE 0 END
  FROM (SELECT t.day, date_trunc('week', t.day::timestamp)::date AS week, date_trunc('month', t.day::timestamp)::date AS month
        FROM (SELECT (now() AT TIME ZONE NEW.time_zone)::date AS day) AS t) AS n
  WHERE l.account_id = NEW.account_id;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER count_account AFTER UPDATE ON key_spend DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.account_limited AND OLD.account_limited AND (NEW.charged <> OLD.charged OR NEW.held <> OLD.held))
  EXECUTE FUNCTION count_account_spend();
CREATE CONSTRAINT TRIGGER count_account_inserted AFTER INSERT ON key_spend DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.account_limited) EXECUTE FUNCTION count_account_spend();

-- Keeps everything that moves the money of an account out until this transaction ends.
CREATE FUNCTION lock_money(payer uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "grant" WHERE account_id = payer AND spent + expired < amount ORDER BY account_id, id FOR NO KEY UPDATE;
END $$;

-- The windows of an account as its sums by hour have them. Where a day does not begin on the hour, that hour's entries count.
CREATE FUNCTION recount_windows(payer uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  zone text := (SELECT time_zone FROM account WHERE id = payer);
  today date := (now() AT TIME ZONE zone)::date;
  this_week date := date_trunc('week', today::timestamp)::date;
  this_month date := date_trunc('month', today::timestamp)::date;
  starts timestamptz[] := ARRAY[today::timestamp AT TIME ZONE zone, this_week::timestamp AT TIME ZONE zone, this_month::timestamp AT TIME ZONE zone];
  parts timestamptz[] := ARRAY(SELECT DISTINCT date_trunc('hour', s, 'UTC') FROM unnest(starts) AS s WHERE s <> date_trunc('hour', s, 'UTC'));
BEGIN
  WITH spent AS (
    SELECT key_id, hour AS at, charged FROM usage_hour
    WHERE account_id = payer AND hour >= least(starts[2], starts[3]) AND hour <> ALL (parts)
    UNION ALL
    SELECT e.key_id, e.created_at, e.charged FROM unnest(parts) AS part (hour)
    JOIN ledger_entry e ON e.account_id = payer AND e.request_id >= uuid_at(part.hour - interval '1 day')
      AND e.request_id < uuid_at(part.hour + interval '2 hours')
      AND e.created_at >= part.hour AND e.created_at < part.hour + interval '1 hour'
  ), sums AS (
    SELECT key_id, coalesce(sum(charged) FILTER (WHERE at >= starts[1]), 0) AS of_day,
           coalesce(sum(charged) FILTER (WHERE at >= starts[2]), 0) AS of_week,
           coalesce(sum(charged) FILTER (WHERE at >= starts[3]), 0) AS of_month FROM spent GROUP BY key_id
  )
  UPDATE key_spend k SET time_zone = zone, day = today, week = this_week, month = this_month,
    day_charged = coalesce(s.of_day, 0), week_charged = coalesce(s.of_week, 0), month_charged = coalesce(s.of_month, 0)
  FROM key_spend o LEFT JOIN sums s ON s.key_id = o.key_id
  WHERE o.account_id = payer AND k.account_id = o.account_id AND k.key_id = o.key_id;
  UPDATE account_limit l SET time_zone = zone, charged = s.charged, held = s.held, day = today, week = this_week, month = this_month,
    day_charged = s.day_charged, week_charged = s.week_charged, month_charged = s.month_charged
  FROM (SELECT coalesce(sum(charged), 0) AS charged, coalesce(sum(held), 0) AS held, coalesce(sum(day_charged), 0) AS day_charged,
               coalesce(sum(week_charged), 0) AS week_charged, coalesce(sum(month_charged), 0) AS month_charged
        FROM key_spend WHERE account_id = payer) AS s
  WHERE l.account_id = payer;
END $$;

CREATE FUNCTION time_zone_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_money(NEW.id);
  PERFORM recount_windows(NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER time_zone_changed AFTER UPDATE OF time_zone ON account FOR EACH ROW
  WHEN (NEW.time_zone <> OLD.time_zone) EXECUTE FUNCTION time_zone_changed();

CREATE FUNCTION account_limited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_money(NEW.account_id);
  UPDATE key_spend SET account_limited = true WHERE account_id = NEW.account_id;
  PERFORM recount_windows(NEW.account_id);
  RETURN NULL;
END $$;
CREATE TRIGGER account_limited AFTER INSERT ON account_limit FOR EACH ROW EXECUTE FUNCTION account_limited();

-- A burn window counts from the moment at which it is set.
CREATE FUNCTION burn_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_money(NEW.account_id);
  UPDATE key_spend SET burn_seconds = NEW.burn_minutes, burn_step = 0,
    burn_charged = CASE WHEN NEW.burn_minutes IS NULL THEN NULL ELSE array_fill(0, ARRAY[61]) END
  WHERE account_id = NEW.account_id AND key_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER burn_changed AFTER UPDATE OF burn_minutes ON api_key FOR EACH ROW
  WHEN (NEW.burn_minutes IS DISTINCT FROM OLD.burn_minutes) EXECUTE FUNCTION burn_changed();

-- Admissions rely on the limits and on where a day begins.
CREATE CONSTRAINT TRIGGER admission_change AFTER INSERT OR UPDATE OF account_id, limit_day, limit_week, limit_month, limit_lifetime OR DELETE
  ON account_limit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_admission_change();
CREATE CONSTRAINT TRIGGER admission_change_zone AFTER UPDATE OF time_zone ON account
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_admission_change();
CREATE TRIGGER admission_change_all AFTER TRUNCATE ON account_limit FOR EACH STATEMENT EXECUTE FUNCTION raise_admission_change();

-- The triggers' locks keep writers out until this is committed.
UPDATE key_spend k SET week = date_trunc('week', now(), 'UTC')::date, week_charged = coalesce(s.charged, 0)
FROM key_spend o LEFT JOIN (SELECT account_id, key_id, sum(charged) AS charged FROM usage_hour
                            WHERE hour >= date_trunc('week', now(), 'UTC') GROUP BY account_id, key_id) AS s
  ON s.account_id = o.account_id AND s.key_id = o.key_id
WHERE k.account_id = o.account_id AND k.key_id = o.key_id;
