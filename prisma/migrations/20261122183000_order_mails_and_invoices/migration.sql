-- Mails about orders: recorded in the transaction of what they tell of, and sent later.
CREATE TABLE "order_mail" (
    "id" UUID NOT NULL,
    "order_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "transfer_id" UUID,
    "state" TEXT NOT NULL DEFAULT 'due',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "order_mail_pkey" PRIMARY KEY ("id")
);

-- E-invoices of paid orders at a provider: at most one for each order, whatever is delivered or repeated.
CREATE TABLE "order_invoice" (
    "order_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'due',
    "tracking" TEXT,
    "number" TEXT,
    "url" TEXT,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "requested_at" TIMESTAMPTZ(3),
    "issued_at" TIMESTAMPTZ(3),
    "problem" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "order_invoice_pkey" PRIMARY KEY ("order_id")
);

-- CreateIndex
CREATE INDEX "order_invoice_state_next_at_idx" ON "order_invoice"("state", "next_at");

-- AddForeignKey
ALTER TABLE "order_mail" ADD CONSTRAINT "order_mail_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "purchase_order"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "order_invoice" ADD CONSTRAINT "order_invoice_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "purchase_order"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- One mail for each thing that happened.
CREATE UNIQUE INDEX order_mail_once ON order_mail (order_id, kind, coalesce(transfer_id, order_id));
CREATE INDEX order_mail_due ON order_mail (created_at) WHERE state = 'due';
ALTER TABLE order_mail ADD CONSTRAINT order_mail_kind CHECK (kind IN ('made', 'paid', 'matched'));
ALTER TABLE order_mail ADD CONSTRAINT order_mail_state CHECK (state IN ('due', 'sent', 'failed'));
ALTER TABLE order_mail ADD CONSTRAINT order_mail_tries CHECK (tries >= 0);
ALTER TABLE order_invoice ADD CONSTRAINT order_invoice_state CHECK (state IN ('due', 'issued', 'failed', 'withdrawn', 'to_cancel'));
ALTER TABLE order_invoice ADD CONSTRAINT order_invoice_tries CHECK (tries >= 0);
ALTER TABLE order_invoice ADD CONSTRAINT order_invoice_issued CHECK (state <> 'issued' OR (number IS NOT NULL AND issued_at IS NOT NULL));
