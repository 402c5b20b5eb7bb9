-- A backup is restored with an empty search path, and CHECKs are tried while its rows are copied: the functions of CHECKs find the
-- functions that they call by a path of their own. `SET … FROM CURRENT` would be the same in fewer words; Citus, which gives
-- functions to its workers as they are made, refuses to alter them by it.
DO $$ BEGIN
  EXECUTE 'ALTER FUNCTION further_entry_holds(bigint, bigint, bigint, jsonb, text, timestamptz) SET search_path = ' || current_setting('search_path');
  EXECUTE 'ALTER FUNCTION valid_price_clock(jsonb, boolean) SET search_path = ' || current_setting('search_path');
END $$;
