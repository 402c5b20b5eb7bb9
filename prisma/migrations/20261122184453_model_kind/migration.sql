-- What a model makes of its input. Models that are there answer with text.
ALTER TABLE model ADD COLUMN kind TEXT NOT NULL DEFAULT 'text';
ALTER TABLE model ADD CONSTRAINT model_kind CHECK (kind IN ('text', 'embedding'));
