-- The grants of an account are locked in the order of their key, which never changes; this index had their end in it,
-- which an operator can change.

DROP INDEX "grant_account_id_expires_at_id_idx";
