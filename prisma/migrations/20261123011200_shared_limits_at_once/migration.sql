-- A charge of a key moves the limits of its member and its project in one statement, unless one of them has to turn to a new month.

CREATE OR REPLACE FUNCTION count_shared_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := NEW.charged;
  held_more bigint := NEW.held;
  was_in uuid := NEW.project_id;
  this_month date := date_trunc('month', now() AT TIME ZONE NEW.time_zone)::date;
  counted_member uuid;
  moved uuid[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('steyg.shared_limit:' || NEW.account_id, 0));
  IF TG_OP = 'UPDATE' THEN
    added := NEW.charged - OLD.charged;
    held_more := NEW.held - OLD.held;
    was_in := OLD.project_id;
  END IF;
  -- The row of a member's limit adds up itself what its keys have when it is made.
  counted_member := CASE WHEN TG_OP = 'INSERT' OR OLD.member_id IS NOT NULL THEN NEW.member_id END;
  IF was_in IS NOT DISTINCT FROM NEW.project_id THEN
    -- Nearly always both rows are of this month: one statement.
    WITH counted AS (
      UPDATE shared_limit l SET charged = l.charged + added, held = l.held + held_more, month_charged = l.month_charged + added
      WHERE l.account_id = NEW.account_id AND l.subject_id IN (counted_member, was_in) AND l.month >= this_month RETURNING l.subject_id
    ) SELECT array_agg(subject_id) INTO moved FROM counted;
    IF counted_member IS NOT NULL AND (counted_member = ANY (moved)) IS NOT TRUE THEN
      PERFORM add_to_shared_limit(NEW.account_id, counted_member, NEW.time_zone, added, held_more);
    END IF;
    IF was_in IS NOT NULL AND (was_in = ANY (moved)) IS NOT TRUE THEN
      PERFORM add_to_shared_limit(NEW.account_id, was_in, NEW.time_zone, added, held_more);
    END IF;
    RETURN NULL;
  END IF;
  IF counted_member IS NOT NULL THEN
    PERFORM add_to_shared_limit(NEW.account_id, counted_member, NEW.time_zone, added, held_more);
  END IF;
  IF was_in IS NOT NULL THEN
    PERFORM add_to_shared_limit(NEW.account_id, was_in, NEW.time_zone, 0, -OLD.held);
  END IF;
  IF NEW.project_id IS NOT NULL THEN
    PERFORM add_to_shared_limit(NEW.account_id, NEW.project_id, NEW.time_zone, added, NEW.held);
  END IF;
  RETURN NULL;
END $$;
