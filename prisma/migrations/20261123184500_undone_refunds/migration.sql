-- CreateTable
CREATE TABLE "refund_undone" (
    "refund_id" UUID NOT NULL,
    "posting_id" UUID,
    "bonus_posting_id" UUID,
    "reason" TEXT NOT NULL,
    "undone_by" TEXT NOT NULL,
    "undone_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "refund_undone_pkey" PRIMARY KEY ("refund_id")
);

-- AddForeignKey
ALTER TABLE "refund_undone" ADD CONSTRAINT "refund_undone_refund_id_fkey" FOREIGN KEY ("refund_id") REFERENCES "refund"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON refund_undone FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON refund_undone FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

-- A refund is undone once nothing pays it, and gives back all that it took.
CREATE FUNCTION refuse_wrong_undo() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE taken refund%ROWTYPE;
BEGIN
  SELECT * INTO taken FROM refund WHERE id = NEW.refund_id FOR UPDATE;
  IF EXISTS (SELECT FROM refund_payment WHERE refund_id = NEW.refund_id)
     OR coalesce((SELECT -amount FROM posting WHERE account_id = taken.holder_id AND id = NEW.posting_id AND grant_id = taken.grant_id), 0) <> taken.budget
     OR coalesce((SELECT -amount FROM posting WHERE account_id = taken.holder_id AND id = NEW.bonus_posting_id AND grant_id = taken.bonus_grant_id), 0) <> taken.bonus THEN
    RAISE EXCEPTION 'an undone refund is paid by nothing and gives back what it took' USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_undone_whole';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER whole BEFORE INSERT ON refund_undone FOR EACH ROW EXECUTE FUNCTION refuse_wrong_undo();

-- What is given back is an expiry below zero, so that the sums of a grant stay those of its postings, also for earlier versions.
-- Not validated: earlier rows were written under a stricter rule.
ALTER TABLE posting DROP CONSTRAINT posting_amount;
ALTER TABLE posting ADD CONSTRAINT posting_amount CHECK (amount > 0 OR (amount < 0 AND kind = 'expire')) NOT VALID;

-- What was undone goes back no more, and can go back again.
CREATE OR REPLACE FUNCTION refuse_excess_refund() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE most bigint; told bigint;
BEGIN
  IF NEW.kind = 'purchase' THEN
    SELECT price_vnd INTO most FROM purchase_order WHERE id = NEW.order_id AND status = 'paid' FOR UPDATE;
    SELECT coalesce(sum(amount_vnd), 0) INTO told FROM refund r WHERE order_id = NEW.order_id AND kind = 'purchase'
      AND NOT EXISTS (SELECT FROM refund_undone u WHERE u.refund_id = r.id);
  ELSE
    SELECT amount_vnd INTO most FROM bank_transfer WHERE id = NEW.transfer_id AND direction = 'in' FOR UPDATE;
    SELECT coalesce(sum(amount_vnd), 0) INTO told FROM refund r WHERE transfer_id = NEW.transfer_id
      AND NOT EXISTS (SELECT FROM refund_undone u WHERE u.refund_id = r.id);
  END IF;
  IF most IS NULL OR told > most THEN
    RAISE EXCEPTION 'a refund of more than was received' USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_excess';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION refuse_excess_payment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE most bigint; sent bigint; given bigint;
BEGIN
  SELECT amount_vnd INTO most FROM refund WHERE id = NEW.refund_id FOR UPDATE;
  IF EXISTS (SELECT FROM refund_undone WHERE refund_id = NEW.refund_id) THEN most := 0; END IF;
  SELECT amount_vnd INTO given FROM bank_transfer WHERE id = NEW.transfer_id AND direction = 'out' AND amount_vnd > 0;
  SELECT coalesce(sum(t.amount_vnd), 0) INTO sent FROM refund_payment p JOIN bank_transfer t ON t.id = p.transfer_id WHERE p.refund_id = NEW.refund_id;
  IF given IS NULL OR sent > most THEN
    RAISE EXCEPTION 'a refund is paid by outgoing transfers up to its amount' USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_payment_excess';
  END IF;
  RETURN NEW;
END $$;

-- A customer is told that a credit note was cancelled: `transfer_id` of such a mail is the refund.
ALTER TABLE order_mail DROP CONSTRAINT order_mail_kind;
ALTER TABLE order_mail ADD CONSTRAINT order_mail_kind CHECK (kind IN ('made', 'paid', 'matched', 'refunded', 'refund_undone'));
