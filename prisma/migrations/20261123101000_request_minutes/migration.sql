-- CreateTable
CREATE TABLE "request_minute" (
    "model" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(0) NOT NULL,
    "account_id" UUID NOT NULL,
    "succeeded" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "request_minute_pkey" PRIMARY KEY ("model","minute","account_id")
);

-- CreateIndex
CREATE INDEX "request_minute_minute_idx" ON "request_minute"("minute");

ALTER TABLE request_minute ADD CONSTRAINT request_counts CHECK (succeeded >= 0 AND failed >= 0);
