-- The XML of e-invoices. Invoices that are issued already get theirs, too.

-- AlterTable
ALTER TABLE "order_invoice" ADD COLUMN     "file_state" TEXT NOT NULL DEFAULT 'due',
ADD COLUMN     "file_tries" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "file_next_at" TIMESTAMPTZ(3),
ADD COLUMN     "file_problem" TEXT,
ADD COLUMN     "file_tracking" TEXT;

-- CreateTable
CREATE TABLE "order_invoice_file" (
    "order_id" UUID NOT NULL,
    "reference_no" INTEGER NOT NULL,
    "content" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "order_invoice_file_pkey" PRIMARY KEY ("order_id","reference_no")
);

-- AddForeignKey
ALTER TABLE "order_invoice_file" ADD CONSTRAINT "order_invoice_file_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "order_invoice"("order_id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE order_invoice ADD CONSTRAINT order_invoice_file_state CHECK (file_state IN ('due', 'stored', 'failed'));
ALTER TABLE order_invoice ADD CONSTRAINT order_invoice_file_tries CHECK (file_tries >= 0);
ALTER TABLE order_invoice_file ADD CONSTRAINT order_invoice_file_size CHECK (octet_length(content) BETWEEN 1 AND 1000000);

-- What the job looks for, each minute.
CREATE INDEX order_invoice_file_due ON order_invoice (coalesce(file_next_at, issued_at)) WHERE state = 'issued' AND file_state = 'due';
