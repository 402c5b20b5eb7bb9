-- The accounts of uptime probes are left out of every figure of the operator: there are a handful of them among all accounts.
CREATE INDEX account_probe ON account (id) WHERE kind = 'probe';
