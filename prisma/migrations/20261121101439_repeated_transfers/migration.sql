-- One movement can be told twice under different ids: by a provider and by an operator, or by a provider's webhook and
-- its listing. The second waits for a person.
ALTER TABLE transfer_review DROP CONSTRAINT review_reason;
ALTER TABLE transfer_review ADD CONSTRAINT review_reason CHECK (reason IN
  ('no_memo', 'unknown_memo', 'several_memos', 'late', 'order_paid', 'order_cancelled', 'outgoing', 'no_amount',
   'other_account', 'repeated', 'surplus', 'short'));
