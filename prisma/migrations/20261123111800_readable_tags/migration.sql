-- New accounts read their own tags; those that are there keep what they have. The previous version takes `tags` for digests.
ALTER TABLE account DROP CONSTRAINT account_attribution;
ALTER TABLE account ADD CONSTRAINT account_attribution CHECK (attribution IN ('off', 'digests', 'tags', 'plain'));
ALTER TABLE "account" ALTER COLUMN "attribution" SET DEFAULT 'tags';
