#!/bin/sh
# One dump of the database into BACKUP_DIR, under its final name only when it is whole; dumps older than KEEP_DAYS go.
# The connection is libpq's: PGHOST, PGUSER, PGDATABASE, and PGPASSWORD_FILE for a password that is a file.
set -eu
umask 077
if [ -n "${PGPASSWORD_FILE:-}" ]; then
  PGPASSWORD=$(cat "$PGPASSWORD_FILE")
  export PGPASSWORD
fi
name="$BACKUP_DIR/steyg-$(date -u +%Y%m%dT%H%M%SZ).dump"
trap 'rm -f "$name.part"' EXIT
pg_dump --format=custom --file="$name.part"
# A dump that cannot be listed is none.
pg_restore --list "$name.part" >/dev/null
mv "$name.part" "$name"
find "$BACKUP_DIR" -name 'steyg-*.dump' -mtime "+${KEEP_DAYS:-14}" -delete
echo "backup: $name"
