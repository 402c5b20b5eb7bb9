/** Whether an error means that the database is unreachable, restarting or too slow. */
export function isDatabaseAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  // SQLSTATE classes 08 and 53, the shutdown codes 57P0x, a cancelled statement; errors of sockets otherwise.
  if (typeof code === 'string') return /^(ECONN|ENOENT|EPIPE|ETIMEDOUT|57P0|08|53|57014)/.test(code);
  return typeof message === 'string' && /timeout|terminat|connection/i.test(message);
}
