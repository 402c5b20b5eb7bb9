-- An erasure finds the entries that name an address without reading the whole log. Few entries have one.
CREATE INDEX IF NOT EXISTS audit_entry_email_before ON audit_entry ((before ->> 'email')) WHERE before ->> 'email' IS NOT NULL;
CREATE INDEX IF NOT EXISTS audit_entry_email_after ON audit_entry ((after ->> 'email')) WHERE after ->> 'email' IS NOT NULL;
