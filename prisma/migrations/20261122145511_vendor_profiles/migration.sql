-- An upstream names its vendor, from whose profile its features come.

-- AlterTable
ALTER TABLE "upstream" ADD COLUMN     "profile" TEXT;
