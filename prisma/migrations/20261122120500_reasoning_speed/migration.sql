-- While a model reasons, some streams show nothing. Their silence counts as tokens, at a speed that the entry states.

-- AlterTable
ALTER TABLE "model" ADD COLUMN     "reasoning_tokens_per_second" INTEGER;

ALTER TABLE model ADD CONSTRAINT model_reasoning_speed CHECK (reasoning_tokens_per_second BETWEEN 0 AND 10000);
