-- What operators look for are exceptions: indexes of these alone cost the money path nothing and stay small.
CREATE INDEX ledger_shortfall ON ledger_entry (request_id) WHERE charged < cost;
CREATE INDEX ledger_doubtful ON ledger_entry (request_id) WHERE usage_source IN ('clamped', 'estimated');
