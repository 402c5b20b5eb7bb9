-- Every settled request wrote an entry into each of these. The table of holds is as small as the requests that run; what
-- reads postings (the checks of the ledger) reads all of an account, which the primary key finds.

DROP INDEX "hold_process_id_idx";

DROP INDEX "posting_account_id_grant_id_idx";

DROP INDEX "posting_account_id_request_id_idx";

-- The running sums of a grant are not part of the condition any more: an update of a row that changes nothing an index
-- knows needs no new entry in any of them. Grants that are used up are few enough to be passed over.
DROP INDEX grant_open;
CREATE INDEX "grant_account_id_expires_at_id_idx" ON "grant"("account_id", "expires_at", "id");
