-- AlterTable
ALTER TABLE "probe_result" ADD COLUMN     "agreed" BOOLEAN NOT NULL DEFAULT false;
