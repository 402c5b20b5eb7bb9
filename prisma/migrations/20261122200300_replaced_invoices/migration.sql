-- An invoice that was cancelled at the provider is replaced by one with a reference of its own.
ALTER TABLE "order_invoice" ADD COLUMN "reference_no" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "order_invoice" ADD COLUMN "replace_cancelled" BOOLEAN NOT NULL DEFAULT false;
