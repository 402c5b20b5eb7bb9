/** Recognises UUIDs: ids arrive as text, and PostgreSQL fails to compare a UUID with anything else. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
