-- Passkeys (WebAuthn): public keys only; nothing here opens anything by itself.
CREATE TABLE "user_passkey" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "name" TEXT,
    "user_id" UUID NOT NULL,
    "credential_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "counter" BIGINT NOT NULL,
    "device_type" TEXT NOT NULL,
    "backed_up" BOOLEAN NOT NULL,
    "transports" TEXT,
    "aaguid" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    CONSTRAINT "user_passkey_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "user_passkey_credential_id_key" ON "user_passkey"("credential_id");
CREATE INDEX "user_passkey_user_id_idx" ON "user_passkey"("user_id");
ALTER TABLE "user_passkey" ADD CONSTRAINT "user_passkey_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The passkey that opened a session. Sessions end with their passkey.
ALTER TABLE "user_session" ADD COLUMN "passkey_id" UUID;
ALTER TABLE "user_session" ADD CONSTRAINT "user_session_passkey_id_fkey"
  FOREIGN KEY ("passkey_id") REFERENCES "user_passkey"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE INDEX "user_session_passkey_id_idx" ON "user_session"("passkey_id");
