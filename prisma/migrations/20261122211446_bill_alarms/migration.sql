-- Alarms about vendors' bills: from which difference on, and after how many days a bill is missing.
ALTER TABLE "business_notice_settings" ADD COLUMN "bill_percent" SMALLINT NOT NULL DEFAULT 1,
ADD COLUMN "bill_days" SMALLINT NOT NULL DEFAULT 7;
ALTER TABLE business_notice_settings ADD CONSTRAINT business_notice_bills
  CHECK (bill_percent BETWEEN 1 AND 100 AND bill_days BETWEEN 1 AND 45);

ALTER TABLE notice DROP CONSTRAINT notice_kind;
ALTER TABLE notice ADD CONSTRAINT notice_kind CHECK (kind IN
  ('balance_low', 'balance_exhausted', 'grant_expiring', 'trial_ending', 'burn_rate', 'key_limit_near', 'price_changed',
   'model_incident', 'new_sign_in', 'shortfall', 'upstream_failing', 'transfer_waiting', 'margin_low', 'bill_differs',
   'bill_missing'));
