-- An answer that is not streamed cannot be stopped when the budget is used up. It is held for all that it can cost, except
-- for one at a time of an account. Holds of the previous version have no mark and count as covered until they end.

-- AlterTable
ALTER TABLE "grant" ADD COLUMN     "overdrawn" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "hold" ADD COLUMN     "uncovered" BOOLEAN NOT NULL DEFAULT false;

CREATE UNIQUE INDEX hold_uncovered ON hold (account_id) WHERE uncovered;
