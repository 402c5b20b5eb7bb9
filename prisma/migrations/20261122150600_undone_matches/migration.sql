-- A match that an operator took back: what it said, who undid it and when. Append-only, like the matches themselves.
CREATE TABLE "transfer_unmatch" (
    "id" UUID NOT NULL,
    "transfer_id" UUID NOT NULL,
    "order_id" UUID NOT NULL,
    "matched_by" TEXT NOT NULL,
    "matched_at" TIMESTAMPTZ(3) NOT NULL,
    "undone_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "transfer_unmatch_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "transfer_unmatch_transfer_id_idx" ON "transfer_unmatch"("transfer_id");

-- CreateIndex
CREATE INDEX "transfer_unmatch_order_id_idx" ON "transfer_unmatch"("order_id");

-- AddForeignKey
ALTER TABLE "transfer_unmatch" ADD CONSTRAINT "transfer_unmatch_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "bank_transfer"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transfer_unmatch" ADD CONSTRAINT "transfer_unmatch_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "purchase_order"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON transfer_unmatch FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON transfer_unmatch FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

-- A match leaves its table only when the record of its end is there: nothing is ever forgotten.
CREATE FUNCTION refuse_unrecorded_unmatch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (
    SELECT FROM transfer_unmatch u
    WHERE u.transfer_id = OLD.transfer_id AND u.order_id = OLD.order_id AND u.matched_by = OLD.matched_by
      AND u.matched_at = OLD.created_at) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER append_only ON transfer_match;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON transfer_match FOR EACH ROW EXECUTE FUNCTION refuse_unrecorded_unmatch();
