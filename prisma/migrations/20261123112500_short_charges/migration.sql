-- A charge is below its cost only where the account had nothing free. Entries said so themselves; with what the other requests
-- held at that moment, the grants and postings say it as well. Earlier versions leave it NULL, and their entries are not judged.

-- AlterTable
ALTER TABLE "ledger_entry" ADD COLUMN     "held_after" BIGINT;
