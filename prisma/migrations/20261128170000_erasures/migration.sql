-- What an erasure deleted, in counts and ids: the proof of it. No names, no addresses.

-- CreateTable
CREATE TABLE "erasure" (
    "account_id" UUID NOT NULL,
    "erased_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "by_operator" BOOLEAN NOT NULL,
    "counts" JSONB NOT NULL,
    "people" UUID[],
    "keys" UUID[],

    CONSTRAINT "erasure_pkey" PRIMARY KEY ("account_id")
);

-- AddForeignKey
ALTER TABLE "erasure" ADD CONSTRAINT "erasure_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON erasure FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
