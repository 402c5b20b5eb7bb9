/** Choices that a browser remembers: language, theme, account. A browser may forbid storage; the page then forgets. */

export function recall(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a choice; null removes it. */
export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Forgotten with the tab.
  }
}

/** The same for a choice that the server needs too, for pages that it serves with their content. */
export function rememberForServer(name: string, value: string | null): void {
  remember(name, value);
  const secure = location.protocol === 'https:' ? '; secure' : '';
  const maxAgeS = value === null ? 0 : 365 * 86_400;
  document.cookie = `${name}=${value ?? ''}; path=/; max-age=${maxAgeS}; samesite=lax${secure}`;
}
