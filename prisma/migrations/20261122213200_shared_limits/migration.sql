-- Spending limits that several keys share: those that a member made, and those of a project. Their sums are moved by
-- deferred triggers of `key_spend`, as those of limited accounts are; keys without such a limit move nothing more.

-- CreateTable
CREATE TABLE "shared_limit" (
    "account_id" UUID NOT NULL,
    "subject_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "limit_month" BIGINT,
    "limit_lifetime" BIGINT,
    "charged" BIGINT NOT NULL DEFAULT 0,
    "held" BIGINT NOT NULL DEFAULT 0,
    "time_zone" TEXT NOT NULL DEFAULT 'UTC',
    "month" DATE,
    "month_charged" BIGINT NOT NULL DEFAULT 0,
    "earlier_charged" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "shared_limit_pkey" PRIMARY KEY ("account_id","subject_id")
);

-- CreateTable
CREATE TABLE "shared_limit_month" (
    "account_id" UUID NOT NULL,
    "subject_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "charged" BIGINT NOT NULL,

    CONSTRAINT "shared_limit_month_pkey" PRIMARY KEY ("account_id","subject_id","month")
);

-- CreateTable
CREATE TABLE "key_project" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "key_id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "from_charged" BIGINT NOT NULL,
    "to_charged" BIGINT,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "key_project_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateIndex
CREATE INDEX "key_project_account_id_key_id_idx" ON "key_project"("account_id", "key_id");

-- AddForeignKey
ALTER TABLE "shared_limit" ADD CONSTRAINT "shared_limit_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AlterTable
ALTER TABLE "key_spend" ADD COLUMN     "member_id" UUID,
ADD COLUMN     "project_id" UUID;

ALTER TABLE shared_limit ADD CONSTRAINT shared_limit_kind CHECK (kind IN ('member', 'project'));
ALTER TABLE shared_limit ADD CONSTRAINT shared_limit_limits CHECK (limit_month > 0 AND limit_lifetime > 0);
ALTER TABLE shared_limit ADD CONSTRAINT shared_limit_amounts CHECK (held >= 0 AND least(month_charged, earlier_charged) >= 0
  AND month_charged + earlier_charged <= charged);
ALTER TABLE shared_limit_month ADD CONSTRAINT shared_limit_month_charged CHECK (charged > 0);
ALTER TABLE key_project ADD CONSTRAINT key_project_charged CHECK (from_charged >= 0 AND coalesce(to_charged >= from_charged, true));
-- A key lies in one project at a time.
CREATE UNIQUE INDEX key_project_open ON key_project (account_id, key_id) WHERE to_charged IS NULL;

-- Adds to the sums of one shared limit. Its month never goes back: a charge of a transaction that began before midnight and
-- follows one that began later counts in the later month, and so does one after a time zone further west was chosen.
CREATE FUNCTION add_to_shared_limit(payer uuid, subject uuid, zone text, added bigint, held_more bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  this_month date := date_trunc('month', now() AT TIME ZONE zone)::date;
  counted shared_limit;
BEGIN
  SELECT * INTO counted FROM shared_limit WHERE account_id = payer AND subject_id = subject FOR NO KEY UPDATE;
  IF counted.month < this_month AND counted.month_charged > 0 THEN
    INSERT INTO shared_limit_month VALUES (payer, subject, counted.month, counted.month_charged);
  END IF;
  UPDATE shared_limit l SET charged = l.charged + added, held = l.held + held_more, month = greatest(l.month, this_month),
    month_charged = CASE WHEN this_month > l.month THEN 0 ELSE l.month_charged END + added
  WHERE l.account_id = payer AND l.subject_id = subject;
END $$;

-- Moves the shared limits of a key as its own sums move. Deferred, and behind one lock for each account, so that two
-- transactions with several keys never wait for each other in a circle. A key that changes its project takes along what it
-- holds, and leaves what it was charged.
CREATE FUNCTION count_shared_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := NEW.charged;
  held_more bigint := NEW.held;
  was_in uuid := NEW.project_id;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('steyg.shared_limit:' || NEW.account_id, 0));
  IF TG_OP = 'UPDATE' THEN
    added := NEW.charged - OLD.charged;
    held_more := NEW.held - OLD.held;
    was_in := OLD.project_id;
  END IF;
  -- The row of a member's limit adds up itself what its keys have when it is made.
  IF NEW.member_id IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.member_id IS NOT NULL) THEN
    PERFORM add_to_shared_limit(NEW.account_id, NEW.member_id, NEW.time_zone, added, held_more);
  END IF;
  IF was_in IS NOT DISTINCT FROM NEW.project_id THEN
    IF was_in IS NOT NULL THEN
      PERFORM add_to_shared_limit(NEW.account_id, was_in, NEW.time_zone, added, held_more);
    END IF;
    RETURN NULL;
  END IF;
  IF was_in IS NOT NULL THEN
    PERFORM add_to_shared_limit(NEW.account_id, was_in, NEW.time_zone, 0, -OLD.held);
  END IF;
  IF NEW.project_id IS NOT NULL THEN
    PERFORM add_to_shared_limit(NEW.account_id, NEW.project_id, NEW.time_zone, added, NEW.held);
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER count_shared AFTER UPDATE ON key_spend DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW.member_id IS NOT NULL OR NEW.project_id IS NOT NULL OR OLD.project_id IS NOT NULL)
        AND (NEW.charged <> OLD.charged OR NEW.held <> OLD.held OR NEW.project_id IS DISTINCT FROM OLD.project_id))
  EXECUTE FUNCTION count_shared_spend();
CREATE CONSTRAINT TRIGGER count_shared_inserted AFTER INSERT ON key_spend DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.member_id IS NOT NULL OR NEW.project_id IS NOT NULL) EXECUTE FUNCTION count_shared_spend();

-- A key that is used for the first time: which limits it shares.
CREATE FUNCTION share_key_limits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT l.subject_id, k.project_id INTO NEW.member_id, NEW.project_id FROM api_key k
  LEFT JOIN shared_limit l ON l.account_id = k.account_id AND l.subject_id = k.created_by
  WHERE k.id = NEW.key_id AND k.account_id = NEW.account_id;
  RETURN NEW;
END $$;
CREATE TRIGGER share_inserted BEFORE INSERT ON key_spend FOR EACH ROW EXECUTE FUNCTION share_key_limits();

-- A member's first limit: what the keys that they made have spent and hold counts, also that of this month.
CREATE FUNCTION member_limited() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  zone text := (SELECT time_zone FROM account WHERE id = NEW.account_id);
  this_month date := date_trunc('month', now() AT TIME ZONE zone)::date;
BEGIN
  PERFORM lock_money(NEW.account_id);
  UPDATE key_spend s SET member_id = NEW.subject_id FROM api_key k
  WHERE s.account_id = NEW.account_id AND k.id = s.key_id AND k.account_id = NEW.account_id AND k.created_by = NEW.subject_id;
  UPDATE shared_limit l SET time_zone = zone, month = this_month, charged = s.charged, held = s.held, month_charged = s.of_month,
    earlier_charged = s.charged - s.of_month
  FROM (SELECT coalesce(sum(charged), 0) AS charged, coalesce(sum(held), 0) AS held,
               coalesce(sum(month_charged) FILTER (WHERE month >= this_month), 0) AS of_month
        FROM key_spend WHERE account_id = NEW.account_id AND member_id = NEW.subject_id) AS s
  WHERE l.account_id = NEW.account_id AND l.subject_id = NEW.subject_id;
  RETURN NULL;
END $$;
CREATE TRIGGER member_limited AFTER INSERT ON shared_limit FOR EACH ROW WHEN (NEW.kind = 'member') EXECUTE FUNCTION member_limited();

-- Each project adds up what is spent in it, for its report, also without a limit.
CREATE FUNCTION project_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO shared_limit (account_id, subject_id, kind, time_zone, month)
  SELECT id, NEW.id, 'project', time_zone, date_trunc('month', now() AT TIME ZONE time_zone)::date FROM account WHERE id = NEW.account_id;
  RETURN NULL;
END $$;
CREATE TRIGGER project_made AFTER INSERT ON project FOR EACH ROW EXECUTE FUNCTION project_made();

-- Notes what a key has been charged when it comes into a project and when it leaves it.
CREATE FUNCTION key_project_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  so_far bigint;
BEGIN
  -- Nothing moves the money of a key that is just made.
  IF TG_OP = 'UPDATE' THEN
    PERFORM lock_money(NEW.account_id);
  END IF;
  so_far := coalesce((SELECT charged FROM key_spend WHERE account_id = NEW.account_id AND key_id = NEW.id), 0);
  UPDATE key_project SET to_charged = so_far WHERE account_id = NEW.account_id AND key_id = NEW.id AND to_charged IS NULL;
  IF NEW.project_id IS NOT NULL THEN
    INSERT INTO key_project (account_id, key_id, project_id, from_charged) VALUES (NEW.account_id, NEW.id, NEW.project_id, so_far);
  END IF;
  UPDATE key_spend SET project_id = NEW.project_id WHERE account_id = NEW.account_id AND key_id = NEW.id;
  -- The sums move now: the change of the key is noted when the transaction ends, under the one row that has to be the last lock,
  -- and who changes a limit has locked the sums before.
  SET CONSTRAINTS count_shared IMMEDIATE;
  SET CONSTRAINTS count_shared DEFERRED;
  RETURN NULL;
END $$;
CREATE TRIGGER project_changed AFTER UPDATE OF project_id ON api_key FOR EACH ROW
  WHEN (NEW.project_id IS DISTINCT FROM OLD.project_id) EXECUTE FUNCTION key_project_changed();
CREATE TRIGGER project_chosen AFTER INSERT ON api_key FOR EACH ROW
  WHEN (NEW.project_id IS NOT NULL) EXECUTE FUNCTION key_project_changed();

-- Months of shared limits begin where those of the account begin. What was counted stays in the month that it was counted in.
CREATE FUNCTION shared_zone_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_money(NEW.id);
  PERFORM pg_advisory_xact_lock(hashtextextended('steyg.shared_limit:' || NEW.id, 0));
  UPDATE shared_limit SET time_zone = NEW.time_zone WHERE account_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER time_zone_changed_shared AFTER UPDATE OF time_zone ON account FOR EACH ROW
  WHEN (NEW.time_zone <> OLD.time_zone) EXECUTE FUNCTION shared_zone_changed();

-- Admissions rely on these limits. A row without a limit, and what billing adds up, changes nothing for them.
CREATE CONSTRAINT TRIGGER admission_change AFTER UPDATE OF account_id, subject_id, limit_month, limit_lifetime OR DELETE
  ON shared_limit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION raise_admission_change();
CREATE CONSTRAINT TRIGGER admission_change_set AFTER INSERT ON shared_limit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.limit_month IS NOT NULL OR NEW.limit_lifetime IS NOT NULL) EXECUTE FUNCTION raise_admission_change();
CREATE TRIGGER admission_change_all AFTER TRUNCATE ON shared_limit FOR EACH STATEMENT EXECUTE FUNCTION raise_admission_change();

-- Projects that were made before.
INSERT INTO shared_limit (account_id, subject_id, kind, time_zone, month)
SELECT p.account_id, p.id, 'project', a.time_zone, date_trunc('month', now() AT TIME ZONE a.time_zone)::date
FROM project p JOIN account a ON a.id = p.account_id;
INSERT INTO key_project (account_id, key_id, project_id, from_charged)
SELECT k.account_id, k.id, k.project_id, coalesce(s.charged, 0)
FROM api_key k LEFT JOIN key_spend s ON s.account_id = k.account_id AND s.key_id = k.id WHERE k.project_id IS NOT NULL;
UPDATE key_spend s SET project_id = k.project_id FROM api_key k
WHERE k.id = s.key_id AND k.account_id = s.account_id AND k.project_id IS NOT NULL;
