-- Monthly statements list what has expired, and postings are mostly charges. The index holds expiries alone, so that a
-- settlement, which writes charges, does not maintain it.
CREATE INDEX IF NOT EXISTS posting_expired ON posting (account_id, created_at) WHERE kind = 'expire';
