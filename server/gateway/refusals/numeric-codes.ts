/**
 * Errors for OpenRouter's client library (`@openrouter/sdk`), which takes an error for malformed whose `code` is no number, and
 * then shows no sentence of it. All other clients of chat completions and responses compare `code` with words, so the form
 * follows the library's own `user-agent`. https://openrouter.ai/docs/api/reference/errors-and-debugging
 */

export function takesNumericCodes(userAgent: string | undefined): boolean {
  return userAgent?.includes('@openrouter/sdk') === true;
}

/** An error body with the status as its `code`; the word moves to `metadata`. A body that is none stays as it is. */
export function withNumericCode(status: number, body: string): string {
  try {
    const envelope = JSON.parse(body) as { error?: { code?: unknown; metadata?: unknown } };
    const { error } = envelope;
    if (typeof error !== 'object' || error === null || typeof error.code === 'number') return body;
    const { code = null, metadata, ...rest } = error;
    return JSON.stringify({
      ...envelope,
      error: { ...rest, code: status, metadata: metadata ?? { error_code: code } },
    });
  } catch {
    return body;
  }
}
