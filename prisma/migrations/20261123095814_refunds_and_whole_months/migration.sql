-- AlterTable
ALTER TABLE "closed_month" ADD COLUMN     "digest" BYTEA,
ADD COLUMN     "statement" JSONB;

-- CreateTable
CREATE TABLE "sale_undone" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "order_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "holder_id" UUID,
    "price_vnd" BIGINT NOT NULL,
    "budget" BIGINT NOT NULL,
    "paid_at" TIMESTAMPTZ(3) NOT NULL,
    "undone_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sale_undone_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "grant_undone" (
    "account_id" UUID NOT NULL,
    "grant_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "source_ref" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "granted_at" TIMESTAMPTZ(3) NOT NULL,
    "undone_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "grant_undone_pkey" PRIMARY KEY ("account_id","grant_id")
);

-- CreateTable
CREATE TABLE "paper_number" (
    "series" TEXT NOT NULL,
    "last" BIGINT NOT NULL,

    CONSTRAINT "paper_number_pkey" PRIMARY KEY ("series")
);

-- CreateTable
CREATE TABLE "receipt" (
    "number" BIGINT NOT NULL,
    "order_id" UUID NOT NULL,
    "price_vnd" BIGINT NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "voided_at" TIMESTAMPTZ(3),

    CONSTRAINT "receipt_pkey" PRIMARY KEY ("number")
);

-- CreateTable
CREATE TABLE "refund" (
    "id" UUID NOT NULL,
    "number" BIGINT NOT NULL,
    "memo" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "order_id" UUID,
    "transfer_id" UUID,
    "account_id" UUID,
    "amount_vnd" BIGINT NOT NULL,
    "unused_vnd" BIGINT NOT NULL DEFAULT 0,
    "used_vnd" BIGINT NOT NULL DEFAULT 0,
    "holder_id" UUID,
    "grant_id" UUID,
    "budget" BIGINT NOT NULL DEFAULT 0,
    "posting_id" UUID,
    "bonus_grant_id" UUID,
    "bonus" BIGINT NOT NULL DEFAULT 0,
    "bonus_posting_id" UUID,
    "reason" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "refund_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "refund_payment" (
    "transfer_id" UUID NOT NULL,
    "refund_id" UUID NOT NULL,
    "matched_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "refund_payment_pkey" PRIMARY KEY ("transfer_id")
);

-- CreateTable
CREATE TABLE "refund_unpayment" (
    "id" UUID NOT NULL,
    "transfer_id" UUID NOT NULL,
    "refund_id" UUID NOT NULL,
    "matched_by" TEXT NOT NULL,
    "matched_at" TIMESTAMPTZ(3) NOT NULL,
    "undone_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "refund_unpayment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "closed_account" (
    "month" DATE NOT NULL,
    "account_id" UUID NOT NULL,
    "lines" JSONB NOT NULL,

    CONSTRAINT "closed_account_pkey" PRIMARY KEY ("month","account_id")
);

-- CreateTable
CREATE TABLE "statement_digest" (
    "account_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "statement_digest_pkey" PRIMARY KEY ("account_id","month")
);

-- CreateTable
CREATE TABLE "exchange_rate" (
    "id" UUID NOT NULL,
    "period" TEXT NOT NULL,
    "rate" BIGINT NOT NULL,
    "source" TEXT NOT NULL,
    "set_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "exchange_rate_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tax_rule" (
    "id" UUID NOT NULL,
    "valid_from" DATE NOT NULL,
    "sales_vat" INTEGER NOT NULL,
    "foreign_vat" INTEGER NOT NULL,
    "foreign_income" INTEGER NOT NULL,
    "foreign_net" BOOLEAN NOT NULL,
    "note" TEXT NOT NULL,
    "set_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tax_rule_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "journal_account" (
    "role" TEXT NOT NULL,
    "number" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "journal_account_pkey" PRIMARY KEY ("role")
);

-- CreateIndex
CREATE INDEX "sale_undone_order_id_idx" ON "sale_undone"("order_id");

-- CreateIndex
CREATE INDEX "receipt_order_id_idx" ON "receipt"("order_id");

-- CreateIndex
CREATE UNIQUE INDEX "refund_number_key" ON "refund"("number");

-- CreateIndex
CREATE UNIQUE INDEX "refund_memo_key" ON "refund"("memo");

-- CreateIndex
CREATE INDEX "refund_order_id_idx" ON "refund"("order_id");

-- CreateIndex
CREATE INDEX "refund_account_id_idx" ON "refund"("account_id");

-- CreateIndex
CREATE INDEX "refund_transfer_id_idx" ON "refund"("transfer_id");

-- CreateIndex
CREATE INDEX "refund_payment_refund_id_idx" ON "refund_payment"("refund_id");

-- CreateIndex
CREATE INDEX "refund_unpayment_transfer_id_idx" ON "refund_unpayment"("transfer_id");

-- CreateIndex
CREATE INDEX "exchange_rate_period_created_at_idx" ON "exchange_rate"("period", "created_at");

-- CreateIndex
CREATE INDEX "tax_rule_valid_from_created_at_idx" ON "tax_rule"("valid_from", "created_at");

-- AddForeignKey
ALTER TABLE "receipt" ADD CONSTRAINT "receipt_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "purchase_order"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refund" ADD CONSTRAINT "refund_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "purchase_order"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refund" ADD CONSTRAINT "refund_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "bank_transfer"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refund_payment" ADD CONSTRAINT "refund_payment_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "bank_transfer"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refund_payment" ADD CONSTRAINT "refund_payment_refund_id_fkey" FOREIGN KEY ("refund_id") REFERENCES "refund"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- An undone purchase is a movement at its own moment: what the order and its grants were before stays known, whichever version of
-- the server undoes it.
CREATE FUNCTION record_sale_undone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sale_undone (order_id, account_id, holder_id, price_vnd, budget, paid_at)
  VALUES (OLD.id, OLD.account_id, CASE WHEN OLD.gift_to IS NULL THEN OLD.account_id ELSE OLD.receiver_id END, OLD.price_vnd, OLD.budget, OLD.paid_at);
  RETURN NULL;
END $$;
CREATE TRIGGER record_sale_undone AFTER UPDATE OF status ON purchase_order FOR EACH ROW
  WHEN (OLD.status = 'paid' AND NEW.status <> 'paid') EXECUTE FUNCTION record_sale_undone();

CREATE FUNCTION record_grant_undone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO grant_undone (account_id, grant_id, kind, source_ref, amount, granted_at)
  VALUES (OLD.account_id, OLD.id, OLD.kind, OLD.source_ref, OLD.amount, OLD.created_at);
  RETURN NULL;
END $$;
CREATE TRIGGER record_grant_undone AFTER UPDATE OF kind ON "grant" FOR EACH ROW
  WHEN (OLD.kind IN ('purchase', 'bonus') AND NEW.kind = 'adjustment') EXECUTE FUNCTION record_grant_undone();

-- Purchases that were undone before: the match has the moment of the payment, which was that of the grant.
INSERT INTO sale_undone (order_id, account_id, holder_id, price_vnd, budget, paid_at, undone_at)
SELECT DISTINCT ON (u.id) o.id, o.account_id, g.account_id, o.price_vnd, o.budget, u.matched_at, u.created_at
FROM transfer_unmatch u JOIN purchase_order o ON o.id = u.order_id
JOIN "grant" g ON g.source_ref = 'undone:' || g.id AND g.created_at = u.matched_at AND g.amount = o.budget
ORDER BY u.id, g.account_id <> o.account_id;
INSERT INTO grant_undone (account_id, grant_id, kind, source_ref, amount, granted_at, undone_at)
SELECT DISTINCT ON (g.account_id, g.id) g.account_id, g.id, CASE WHEN g.amount = o.budget THEN 'purchase' ELSE 'bonus' END,
       CASE WHEN g.amount = o.budget THEN 'order:' ELSE 'bonus:' END || o.id, g.amount, g.created_at, u.created_at
FROM transfer_unmatch u JOIN purchase_order o ON o.id = u.order_id
JOIN "grant" g ON g.source_ref = 'undone:' || g.id AND g.created_at = u.matched_at AND g.amount IN (o.budget, o.bonus)
ORDER BY g.account_id, g.id, u.created_at DESC;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON sale_undone FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON sale_undone FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON grant_undone FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON grant_undone FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
ALTER TABLE sale_undone ADD CONSTRAINT sale_undone_amounts CHECK (price_vnd > 0 AND budget > 0);
ALTER TABLE grant_undone ADD CONSTRAINT grant_undone_kind CHECK (kind IN ('purchase', 'bonus') AND amount > 0);

-- Numbers of papers without gaps: the row of a series is locked until its transaction has committed, or the number is used again.
ALTER TABLE paper_number ADD CONSTRAINT paper_number_series CHECK (series IN ('receipt', 'credit_note') AND last >= 0);
CREATE FUNCTION next_paper_number(of_series text) RETURNS bigint LANGUAGE sql AS $$
  INSERT INTO paper_number AS n (series, last) VALUES (of_series, 1)
  ON CONFLICT (series) DO UPDATE SET last = n.last + 1 RETURNING last
$$;

CREATE FUNCTION number_receipt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.status = 'paid' THEN
    UPDATE receipt SET voided_at = now() WHERE order_id = OLD.id AND voided_at IS NULL;
  ELSE
    INSERT INTO receipt (number, order_id, price_vnd) VALUES (next_paper_number('receipt'), NEW.id, NEW.price_vnd);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER number_receipt AFTER UPDATE OF status ON purchase_order FOR EACH ROW
  WHEN ((OLD.status = 'paid') <> (NEW.status = 'paid')) EXECUTE FUNCTION number_receipt();
CREATE TRIGGER number_receipt_at_once AFTER INSERT ON purchase_order FOR EACH ROW
  WHEN (NEW.status = 'paid') EXECUTE FUNCTION number_receipt();
INSERT INTO receipt (number, order_id, price_vnd, issued_at)
SELECT row_number() OVER (ORDER BY paid_at, id), id, price_vnd, paid_at FROM purchase_order WHERE status = 'paid';
INSERT INTO paper_number (series, last) SELECT 'receipt', count(*) FROM receipt;

CREATE FUNCTION refuse_receipt_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.voided_at IS NULL
     AND (NEW.number, NEW.order_id, NEW.price_vnd, NEW.issued_at) = (OLD.number, OLD.order_id, OLD.price_vnd, OLD.issued_at) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON receipt FOR EACH ROW EXECUTE FUNCTION refuse_receipt_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON receipt FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

ALTER TABLE refund ADD CONSTRAINT refund_kind CHECK (kind IN ('purchase', 'surplus', 'payment'));
ALTER TABLE refund ADD CONSTRAINT refund_amounts CHECK (
  amount_vnd > 0 AND unused_vnd >= 0 AND used_vnd >= 0 AND budget >= 0 AND bonus >= 0
  AND (kind = 'purchase') = (amount_vnd = unused_vnd + used_vnd) AND (kind = 'purchase' OR (unused_vnd = 0 AND used_vnd = 0)));
ALTER TABLE refund ADD CONSTRAINT refund_of CHECK (
  CASE kind WHEN 'purchase' THEN order_id IS NOT NULL AND transfer_id IS NULL
            WHEN 'surplus' THEN order_id IS NOT NULL AND transfer_id IS NOT NULL AND budget = 0
            ELSE transfer_id IS NOT NULL AND budget = 0 END);
ALTER TABLE refund ADD CONSTRAINT refund_postings CHECK (
  (budget > 0) = (posting_id IS NOT NULL AND grant_id IS NOT NULL AND holder_id IS NOT NULL)
  AND (bonus > 0) = (bonus_posting_id IS NOT NULL AND bonus_grant_id IS NOT NULL));
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON refund FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON refund FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

-- What goes back was received, and goes back once.
CREATE FUNCTION refuse_excess_refund() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE most bigint; told bigint;
BEGIN
  IF NEW.kind = 'purchase' THEN
    SELECT price_vnd INTO most FROM purchase_order WHERE id = NEW.order_id AND status = 'paid' FOR UPDATE;
    SELECT coalesce(sum(amount_vnd), 0) INTO told FROM refund WHERE order_id = NEW.order_id AND kind = 'purchase';
  ELSE
    SELECT amount_vnd INTO most FROM bank_transfer WHERE id = NEW.transfer_id AND direction = 'in' FOR UPDATE;
    SELECT coalesce(sum(amount_vnd), 0) INTO told FROM refund WHERE transfer_id = NEW.transfer_id;
  END IF;
  IF most IS NULL OR told > most THEN
    RAISE EXCEPTION 'a refund of more than was received' USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_excess';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER excess AFTER INSERT ON refund FOR EACH ROW EXECUTE FUNCTION refuse_excess_refund();

CREATE FUNCTION refuse_excess_payment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE most bigint; sent bigint; given bigint;
BEGIN
  SELECT amount_vnd INTO most FROM refund WHERE id = NEW.refund_id FOR UPDATE;
  SELECT amount_vnd INTO given FROM bank_transfer WHERE id = NEW.transfer_id AND direction = 'out' AND amount_vnd > 0;
  SELECT coalesce(sum(t.amount_vnd), 0) INTO sent FROM refund_payment p JOIN bank_transfer t ON t.id = p.transfer_id WHERE p.refund_id = NEW.refund_id;
  IF given IS NULL OR sent > most THEN
    RAISE EXCEPTION 'a refund is paid by outgoing transfers up to its amount' USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_payment_excess';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER excess AFTER INSERT ON refund_payment FOR EACH ROW EXECUTE FUNCTION refuse_excess_payment();

CREATE FUNCTION refuse_unrecorded_unpayment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (
    SELECT FROM refund_unpayment u
    WHERE u.transfer_id = OLD.transfer_id AND u.refund_id = OLD.refund_id AND u.matched_by = OLD.matched_by
      AND u.matched_at = OLD.created_at) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON refund_payment FOR EACH ROW EXECUTE FUNCTION refuse_unrecorded_unpayment();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON refund_payment FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON refund_unpayment FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON refund_unpayment FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

-- A month whose lines do not add up, or do not begin where the month before ended, is refused.
CREATE FUNCTION month_adds_up(statement jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce((
    SELECT bool_and((r->>'opening')::numeric + (r->>'added')::numeric - (r->>'used')::numeric - (r->>'expired')::numeric
                    - (r->>'refunded')::numeric - (r->>'undone')::numeric = (r->>'closing')::numeric
                    AND (r->>'closing')::numeric >= 0)
    FROM jsonb_each(statement->'budgets') AS b (name, r)), false)
  AND coalesce((
    SELECT (c->>'opening')::numeric + (c->>'received')::numeric - (c->>'sold')::numeric + (c->>'undone')::numeric
           + (c->>'credited')::numeric - (c->>'sent')::numeric = (c->>'closing')::numeric
           AND (c->>'surplus')::numeric + (c->>'partPayments')::numeric + (c->>'withoutOrder')::numeric
           + (c->>'unassigned')::numeric + (c->>'toSend')::numeric = (c->>'closing')::numeric
    FROM (SELECT statement->'cash' AS c) AS cash), false)
  AND coalesce((
    SELECT (k->>'bought')::numeric + (k->>'trial')::numeric + (k->>'bonus')::numeric + (k->>'given')::numeric + (k->>'shortfall')::numeric
           + (k->>'own')::numeric + (k->>'probe')::numeric + (k->>'unsplit')::numeric = (k->>'total')::numeric
    FROM (SELECT statement->'vendorCost' AS k) AS cost), false)
$$;
ALTER TABLE closed_month ADD CONSTRAINT closed_month_adds_up CHECK (
  (statement IS NULL) = (digest IS NULL) AND (statement IS NULL OR (month_adds_up(statement) AND length(digest) = 32)));

CREATE FUNCTION refuse_broken_succession() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE earlier jsonb;
BEGIN
  SELECT statement INTO earlier FROM closed_month WHERE month = NEW.previous;
  IF earlier IS NOT NULL AND (
    (earlier->'cash'->>'closing')::numeric <> (NEW.statement->'cash'->>'opening')::numeric
    OR EXISTS (SELECT FROM jsonb_each(earlier->'budgets') AS b (name, r)
               WHERE (r->>'closing')::numeric IS DISTINCT FROM (NEW.statement->'budgets'->name->>'opening')::numeric)) THEN
    RAISE EXCEPTION 'a month begins where the one before ended' USING ERRCODE = 'check_violation', CONSTRAINT = 'closed_month_succession';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER succession BEFORE INSERT ON closed_month FOR EACH ROW WHEN (NEW.statement IS NOT NULL) EXECUTE FUNCTION refuse_broken_succession();

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON closed_account FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON closed_account FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON statement_digest FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON statement_digest FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON exchange_rate FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON exchange_rate FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tax_rule FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON tax_rule FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

ALTER TABLE statement_digest ADD CONSTRAINT statement_digest_length CHECK (length(digest) = 32);
-- From 1,000 to a million VND for a USD: a slip of the decimal point is no rate.
ALTER TABLE exchange_rate ADD CONSTRAINT exchange_rate_bounds CHECK (
  rate BETWEEN 10000000 AND 10000000000 AND period ~ '^20\d\d-(0[1-9]|1[0-2])(-([0-2]\d|3[01]))?$' AND source <> '');
ALTER TABLE tax_rule ADD CONSTRAINT tax_rule_bounds CHECK (
  sales_vat BETWEEN 0 AND 5000 AND foreign_vat BETWEEN 0 AND 5000 AND foreign_income BETWEEN 0 AND 5000);
ALTER TABLE journal_account ADD CONSTRAINT journal_account_number CHECK (number ~ '^[0-9A-Za-z.-]{1,20}$');
