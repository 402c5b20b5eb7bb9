-- Whom the receipt of a paid order names, as they were when it was paid. Null: not given then.
CREATE TABLE "order_parties" (
    "order_id" UUID NOT NULL,
    "seller" JSONB,
    "company" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "order_parties_pkey" PRIMARY KEY ("order_id")
);

-- AddForeignKey
ALTER TABLE "order_parties" ADD CONSTRAINT "order_parties_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "purchase_order"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
