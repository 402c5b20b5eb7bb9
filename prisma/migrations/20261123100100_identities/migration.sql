-- Accounts elsewhere with which people sign in, bound to the issuer that vouches for them.
CREATE TABLE "user_identity" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "linked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    CONSTRAINT "user_identity_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "user_identity_provider_check" CHECK ("provider" IN ('google', 'github', 'oidc')),
    CONSTRAINT "user_identity_issuer_check" CHECK ("issuer" ~ '^https?://' AND char_length("issuer") <= 1024),
    -- OpenID Connect Core 1.0, section 2: at most 255 characters.
    CONSTRAINT "user_identity_subject_check" CHECK (char_length("subject") BETWEEN 1 AND 255)
);
CREATE UNIQUE INDEX "user_identity_issuer_subject_key" ON "user_identity"("issuer", "subject");
CREATE INDEX "user_identity_user_id_idx" ON "user_identity"("user_id");
ALTER TABLE "user_identity" ADD CONSTRAINT "user_identity_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Both have one issuer, and decimal subjects. The issuer of the rows of `oidc` is not known: their people confirm the link
-- once, with a proof of theirs. The old rows stay for the previous version.
INSERT INTO "user_identity" ("user_id", "provider", "issuer", "subject", "linked_at")
SELECT "user_id", "provider_id",
       CASE "provider_id" WHEN 'google' THEN 'https://accounts.google.com' ELSE 'https://github.com' END,
       "provider_account_id", "created_at"
  FROM "user_credential"
 WHERE "provider_id" IN ('google', 'github') AND "provider_account_id" ~ '^[0-9]{1,64}$'
ON CONFLICT DO NOTHING;
