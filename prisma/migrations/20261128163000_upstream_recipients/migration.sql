-- Who receives what is sent to an upstream, and in which country: the page of data flow names both.

-- AlterTable
ALTER TABLE "upstream" ADD COLUMN     "country" TEXT,
ADD COLUMN     "recipient" TEXT;

ALTER TABLE upstream ADD CONSTRAINT upstream_country CHECK (country ~ '^[A-Z]{2}$');
