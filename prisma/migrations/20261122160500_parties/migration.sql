-- CreateTable
CREATE TABLE "account_company" (
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "tax_code" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_company_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "seller" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "name" TEXT NOT NULL,
    "tax_code" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "support_email" TEXT NOT NULL,
    "support_phone" TEXT NOT NULL,
    "terms_url" TEXT NOT NULL,
    "privacy_url" TEXT NOT NULL,
    "refund_url" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "seller_pkey" PRIMARY KEY ("id")
);

-- AddForeignKey
ALTER TABLE "account_company" ADD CONSTRAINT "account_company_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- One service has one seller.
ALTER TABLE "seller" ADD CONSTRAINT seller_single CHECK (id);
