-- Limits of pace for keys and accounts: tokens a minute, requests a minute of an account, requests at once, and the networks
-- that may call. The counting tables are unlogged, as that of requests: after a crash of the database counting begins anew.

-- AlterTable
ALTER TABLE "account_limit" ADD COLUMN     "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "max_concurrent" INTEGER,
ADD COLUMN     "requests_per_minute" INTEGER,
ADD COLUMN     "tokens_per_minute" INTEGER;

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "max_concurrent" INTEGER,
ADD COLUMN     "tokens_per_minute" INTEGER;

ALTER TABLE api_key ADD CONSTRAINT api_key_pace CHECK (tokens_per_minute > 0 AND max_concurrent > 0);
ALTER TABLE account_limit ADD CONSTRAINT account_limit_pace CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND max_concurrent > 0);

-- CreateTable
CREATE UNLOGGED TABLE "token_rate" (
    "subject" UUID NOT NULL,
    "second" BIGINT NOT NULL,
    "counts" BIGINT[],

    CONSTRAINT "token_rate_pkey" PRIMARY KEY ("subject")
);
ALTER TABLE token_rate ADD CONSTRAINT token_rate_counts CHECK (cardinality(counts) = 62);

-- CreateTable
CREATE UNLOGGED TABLE "running_requests" (
    "subject" UUID NOT NULL,
    "processes" UUID[],
    "counts" INTEGER[],

    CONSTRAINT "running_requests_pkey" PRIMARY KEY ("subject")
);
ALTER TABLE running_requests ADD CONSTRAINT running_requests_counts CHECK (cardinality(counts) = cardinality(processes));

-- As `turned_request_rate`, for tokens.
CREATE FUNCTION turned_token_rate(id uuid) RETURNS token_rate LANGUAGE plpgsql AS $$
DECLARE
  rate token_rate;
  this_second bigint;
BEGIN
  LOOP
    INSERT INTO token_rate VALUES (id, 0, array_fill(0::bigint, ARRAY[62])) ON CONFLICT DO NOTHING;
    SELECT * INTO rate FROM token_rate WHERE subject = id FOR UPDATE;
    EXIT WHEN FOUND;
  END LOOP;
  this_second := greatest(rate.second, floor(extract(epoch FROM clock_timestamp()))::bigint);
  FOR passed IN greatest(rate.second + 1, this_second - 61) .. this_second LOOP
    rate.counts[passed % 62 + 1] := 0;
  END LOOP;
  rate.second := this_second;
  RETURN rate;
END $$;

-- Grants each request its tokens, in order, as long as the limit holds all of them: one that does not fit is passed over, and so
-- are those behind it, which would otherwise keep a large request waiting for ever. Before that, tokens of earlier requests
-- that were not used leave the second that they were drawn in, and tokens that were used beyond a draw count now.
-- `free_in`: seconds until the first request that was not granted may fit; null when all were granted.
CREATE FUNCTION draw_tokens(id uuid, tokens_limit bigint, wanted bigint[], of_seconds bigint[], corrections bigint[],
  OUT granted integer, OUT at_second bigint, OUT total bigint, OUT free_in integer) LANGUAGE plpgsql AS $$
DECLARE
  rate token_rate := turned_token_rate(id);
  place integer;
  room bigint;
BEGIN
  FOR i IN 1 .. coalesce(cardinality(corrections), 0) LOOP
    place := (CASE WHEN corrections[i] > 0 THEN rate.second ELSE of_seconds[i] END) % 62 + 1;
    CONTINUE WHEN corrections[i] < 0 AND of_seconds[i] <= rate.second - 62;
    rate.counts[place] := greatest(0, rate.counts[place] + corrections[i]);
  END LOOP;
  at_second := rate.second;
  total := (SELECT sum(count) FROM unnest(rate.counts) AS count);
  granted := 0;
  FOR i IN 1 .. coalesce(cardinality(wanted), 0) LOOP
    EXIT WHEN total + wanted[i] > tokens_limit;
    total := total + wanted[i];
    rate.counts[rate.second % 62 + 1] := rate.counts[rate.second % 62 + 1] + wanted[i];
    granted := i;
  END LOOP;
  UPDATE token_rate r SET second = rate.second, counts = rate.counts WHERE r.subject = id;
  IF granted < coalesce(cardinality(wanted), 0) THEN
    room := tokens_limit - total;
    free_in := 62;
    FOR age IN REVERSE 61 .. 0 LOOP
      room := room + rate.counts[(rate.second - age) % 62 + 1];
      free_in := 62 - age;
      EXIT WHEN room >= wanted[granted + 1];
    END LOOP;
  END IF;
END $$;

-- Says how many requests of a subject run on a process, and grants it so many more that all living processes together stay
-- within the maximum. A process whose lease has ended runs nothing.
CREATE FUNCTION claim_running(id uuid, of_process uuid, mine integer, wanted integer, max_running integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  row running_requests;
  others uuid[];
  other_counts integer[];
  granted integer;
BEGIN
  LOOP
    INSERT INTO running_requests VALUES (id, '{}', '{}') ON CONFLICT DO NOTHING;
    SELECT * INTO row FROM running_requests WHERE subject = id FOR UPDATE;
    EXIT WHEN FOUND;
  END LOOP;
  SELECT coalesce(array_agg(each.process), '{}'), coalesce(array_agg(each.count), '{}') INTO others, other_counts
  FROM unnest(row.processes, row.counts) AS each (process, count)
  JOIN process p ON p.id = each.process AND p.lease_until >= clock_timestamp() WHERE each.process <> of_process AND each.count > 0;
  granted := greatest(0, least(wanted, max_running - mine - (SELECT coalesce(sum(count), 0) FROM unnest(other_counts) AS count)));
  UPDATE running_requests r SET processes = others || of_process, counts = other_counts || (mine + granted) WHERE r.subject = id;
  RETURN granted;
END $$;

-- Every process keeps recent keys in memory, with the limits of their accounts. What billing writes to the table announces
-- nothing.
CREATE TRIGGER announce AFTER INSERT OR UPDATE OF requests_per_minute, tokens_per_minute, max_concurrent, addresses OR DELETE
  ON account_limit FOR EACH STATEMENT EXECUTE FUNCTION announce_change('keys');
