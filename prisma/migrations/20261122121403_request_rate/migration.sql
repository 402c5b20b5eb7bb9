-- Requests per minute of keys and accounts, counted across processes. The table is unlogged: after a crash of the database
-- the minute begins anew, which is all that is lost.

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "requests_per_minute" INTEGER;

ALTER TABLE api_key ADD CONSTRAINT api_key_requests_per_minute CHECK (requests_per_minute > 0);

-- CreateTable
CREATE UNLOGGED TABLE "request_rate" (
    "subject" UUID NOT NULL,
    "second" BIGINT NOT NULL,
    "counts" INTEGER[],

    CONSTRAINT "request_rate_pkey" PRIMARY KEY ("subject")
);

ALTER TABLE request_rate ALTER COLUMN counts SET NOT NULL;
ALTER TABLE request_rate ADD CONSTRAINT request_rate_counts CHECK (cardinality(counts) = 62);

-- Locks the row of a subject (making it where there is none) with its ring of seconds turned on to this one. The ring has
-- 62 places: a request may be made a second after it was counted, and a minute then lies within the ring.
CREATE FUNCTION turned_request_rate(id uuid) RETURNS request_rate LANGUAGE plpgsql AS $$
DECLARE
  rate request_rate;
  this_second bigint;
BEGIN
  LOOP
    INSERT INTO request_rate VALUES (id, 0, array_fill(0, ARRAY[62])) ON CONFLICT DO NOTHING;
    SELECT * INTO rate FROM request_rate WHERE subject = id FOR UPDATE;
    EXIT WHEN FOUND;
  END LOOP;
  -- Read under the lock, so that it is not before the second of the count that was waited for.
  this_second := greatest(rate.second, floor(extract(epoch FROM clock_timestamp()))::bigint);
  FOR passed IN greatest(rate.second + 1, this_second - 61) .. this_second LOOP
    rate.counts[passed % 62 + 1] := 0;
  END LOOP;
  rate.second := this_second;
  RETURN rate;
END $$;

-- Counts what was admitted already, and says how many each subject has had within the ring. Subjects come sorted: their
-- locks are taken in one order.
CREATE FUNCTION count_requests(ids uuid[], amounts integer[]) RETURNS TABLE (subject uuid, total integer) LANGUAGE plpgsql AS $$
DECLARE
  rate request_rate;
BEGIN
  FOR place IN 1 .. cardinality(ids) LOOP
    rate := turned_request_rate(ids[place]);
    rate.counts[rate.second % 62 + 1] := rate.counts[rate.second % 62 + 1] + amounts[place];
    UPDATE request_rate r SET second = rate.second, counts = rate.counts WHERE r.subject = ids[place];
    subject := ids[place];
    total := (SELECT sum(count) FROM unnest(rate.counts) AS count);
    RETURN NEXT;
  END LOOP;
END $$;

-- Grants at most so many requests that the subject's limit holds, and counts them. `free_in`: seconds until the oldest
-- counted request leaves the ring; null while the limit is not reached.
CREATE FUNCTION draw_requests(id uuid, requests_limit integer, wanted integer, OUT granted integer, OUT total integer, OUT free_in integer) LANGUAGE plpgsql AS $$
DECLARE
  rate request_rate := turned_request_rate(id);
BEGIN
  total := (SELECT sum(count) FROM unnest(rate.counts) AS count);
  granted := greatest(0, least(wanted, requests_limit - total));
  rate.counts[rate.second % 62 + 1] := rate.counts[rate.second % 62 + 1] + granted;
  total := total + granted;
  UPDATE request_rate r SET second = rate.second, counts = rate.counts WHERE r.subject = id;
  IF total >= requests_limit THEN
    FOR age IN REVERSE 61 .. 0 LOOP
      free_in := 62 - age;
      EXIT WHEN rate.counts[(rate.second - age) % 62 + 1] > 0;
    END LOOP;
  END IF;
END $$;
