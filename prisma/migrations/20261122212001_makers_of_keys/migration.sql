-- A migration of its own: reading the audit log may take long, and the columns were added under a lock that stops every request.

-- The audit log knows who made the keys that there are: a person, or a program with a token that a person made.
UPDATE api_key k SET created_by = made.by
FROM (SELECT DISTINCT ON (e.subject) e.subject, coalesce(t.created_by, u.id) AS by
      FROM audit_entry e
      LEFT JOIN app_user u ON e.actor = 'user:' || u.id
      LEFT JOIN access_token t ON e.actor = 'token:' || t.id
      WHERE e.action = 'key.create' ORDER BY e.subject, e.created_at) AS made
WHERE made.subject = 'key:' || k.id AND made.by IS NOT NULL;
