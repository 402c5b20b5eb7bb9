-- A message when a state is over that a notice told of.
ALTER TABLE notice DROP CONSTRAINT notice_kind;
ALTER TABLE notice ADD CONSTRAINT notice_kind CHECK (kind IN
  ('balance_low', 'balance_exhausted', 'grant_expiring', 'trial_ending', 'burn_rate', 'key_limit_near', 'price_changed',
   'model_incident', 'new_sign_in', 'shortfall', 'upstream_failing', 'transfer_waiting', 'margin_low', 'bill_differs', 'bill_missing',
   'recovered'));
