-- Members that the gateway does not know pass natively; a model whose upstream may charge for them can refuse them.

-- AlterTable
ALTER TABLE "model" ADD COLUMN     "unknown_members" TEXT NOT NULL DEFAULT 'pass';

ALTER TABLE model ADD CONSTRAINT model_unknown_members CHECK (unknown_members IN ('pass', 'refuse'));
