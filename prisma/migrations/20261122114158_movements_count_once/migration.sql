-- One movement of money counts once, under whatever id a messenger tells it. The accounts that a message names are part of
-- the comparison; messages stored before have none.
ALTER TABLE "bank_transfer" ADD COLUMN "account_numbers" TEXT[];
-- The transfer that told of the movement first.
ALTER TABLE "transfer_review" ADD COLUMN "repeats_id" UUID;
CREATE INDEX "bank_transfer_direction_amount_vnd_booked_at_idx" ON "bank_transfer"("direction", "amount_vnd", "booked_at");

-- The key of plans/movement.ts (referenceKey).
CREATE INDEX bank_transfer_reference_key ON bank_transfer
  (direction, amount_vnd, upper(regexp_replace(bank_reference, '[^0-9A-Za-z]', '', 'g')));

-- A transfer that pays an order is money that came in. The matcher, unlike a person, never lays money of the same bank
-- reference, direction and amount beside orders twice.
CREATE OR REPLACE FUNCTION refuse_unpayable_match() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM bank_transfer WHERE id = NEW.transfer_id AND direction = 'in' AND amount_vnd > 0) THEN
    RAISE EXCEPTION 'transfer % cannot pay an order', NEW.transfer_id USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.matched_by = 'matcher' AND EXISTS (
    SELECT 1 FROM bank_transfer t
    JOIN bank_transfer o ON o.direction = t.direction AND o.amount_vnd = t.amount_vnd AND o.id <> t.id
      AND upper(regexp_replace(o.bank_reference, '[^0-9A-Za-z]', '', 'g'))
        = upper(regexp_replace(t.bank_reference, '[^0-9A-Za-z]', '', 'g'))
    JOIN transfer_match m ON m.transfer_id = o.id
    WHERE t.id = NEW.transfer_id
      -- A placeholder is no reference.
      AND regexp_replace(t.bank_reference, '[^0-9A-Za-z]', '', 'g') !~* '^(0*|null|none|na|undefined|unknown)$'
  ) THEN
    RAISE EXCEPTION 'the movement of transfer % pays an order already', NEW.transfer_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
