-- Models of one vendor differ in the reasoning efforts that they know, and refuse the others.

-- AlterTable
ALTER TABLE "model" ADD COLUMN     "efforts" TEXT[] DEFAULT ARRAY[]::TEXT[];

ALTER TABLE model ALTER COLUMN efforts SET NOT NULL;
ALTER TABLE model ADD CONSTRAINT model_efforts CHECK (efforts <@ ARRAY['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
