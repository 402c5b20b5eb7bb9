-- What the lines of a settled batch came to. Null: it is not settled, or was settled before this column was there.

-- AlterTable
ALTER TABLE "vendor_batch" ADD COLUMN     "charged" BIGINT;

ALTER TABLE vendor_batch ADD CONSTRAINT vendor_batch_charged CHECK (charged BETWEEN 0 AND bound);
