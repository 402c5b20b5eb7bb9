-- CreateTable
CREATE TABLE "vendor_file" (
    "id" UUID NOT NULL,
    "upstream" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "format" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "adds" BOOLEAN NOT NULL,
    "first_day" DATE NOT NULL,
    "last_day" DATE NOT NULL,
    "imported_by" TEXT NOT NULL,
    "imported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "undone_by" TEXT,
    "undone_at" TIMESTAMPTZ(3),

    CONSTRAINT "vendor_file_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "vendor_file_row" (
    "file_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "model" TEXT NOT NULL,
    "requests" BIGINT,
    "input" BIGINT NOT NULL,
    "cache_hit" BIGINT NOT NULL,
    "cache_write" BIGINT NOT NULL,
    "output" BIGINT NOT NULL,
    "cost" BIGINT,

    CONSTRAINT "vendor_file_row_pkey" PRIMARY KEY ("file_id","day","model")
);

-- CreateIndex
CREATE UNIQUE INDEX "vendor_file_upstream_version_key" ON "vendor_file"("upstream", "version");

-- CreateIndex
CREATE INDEX "vendor_file_row_day_idx" ON "vendor_file_row"("day");

-- AddForeignKey
ALTER TABLE "vendor_file_row" ADD CONSTRAINT "vendor_file_row_file_id_fkey" FOREIGN KEY ("file_id") REFERENCES "vendor_file"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE vendor_file ADD CONSTRAINT vendor_file_period CHECK (first_day <= last_day AND version >= 0 AND length(digest) = 32);
ALTER TABLE vendor_file ADD CONSTRAINT vendor_file_undone CHECK ((undone_at IS NULL) = (undone_by IS NULL));
CREATE FUNCTION refuse_vendor_file_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.undone_at IS NULL AND NEW.undone_at IS NOT NULL
     AND (NEW.id, NEW.upstream, NEW.version, NEW.digest, NEW.imported_at) = (OLD.id, OLD.upstream, OLD.version, OLD.digest, OLD.imported_at) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON vendor_file FOR EACH ROW EXECUTE FUNCTION refuse_vendor_file_rewrite();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON vendor_file_row FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON vendor_file FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON vendor_file_row FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();

-- What was imported before is one file of each upstream, which adds: it stands for no day that it has not.
INSERT INTO vendor_file (id, upstream, version, format, digest, adds, first_day, last_day, imported_by, imported_at)
SELECT gen_random_uuid(), upstream, 0, max(source), sha256(convert_to(upstream, 'UTF8')), true, min(day), max(day),
       (array_agg(imported_by ORDER BY imported_at DESC))[1], max(imported_at) FROM vendor_usage GROUP BY upstream;
INSERT INTO vendor_file_row (file_id, day, model, requests, input, cache_hit, cache_write, output, cost)
SELECT f.id, u.day, u.model, u.requests, u.input, u.cache_hit, u.cache_write, u.output, u.cost
FROM vendor_usage u JOIN vendor_file f ON f.upstream = u.upstream;
