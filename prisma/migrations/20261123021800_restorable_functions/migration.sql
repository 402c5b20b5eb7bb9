-- A backup is restored with an empty search path, and CHECKs are tried while its rows are copied: the functions of CHECKs find the
-- functions that they call by a path of their own.
ALTER FUNCTION further_entry_holds(bigint, bigint, bigint, jsonb, text, timestamptz) SET search_path FROM CURRENT;
ALTER FUNCTION valid_price_clock(jsonb, boolean) SET search_path FROM CURRENT;
