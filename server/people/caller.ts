/** The origin of a request about a sign-in: network, browser, cookies. */
export interface Caller {
  ip: string;
  userAgent: string;
  /** The `Cookie` header as the browser sent it. */
  cookie: string | null;
}

/** The headers that better-auth gets: only these, so that no other client-controlled text reaches it. */
export function headersOf(caller: Caller): Headers {
  const headers = new Headers({ 'x-forwarded-for': caller.ip, 'user-agent': caller.userAgent.slice(0, 400) });
  if (caller.cookie !== null) headers.set('cookie', caller.cookie);
  return headers;
}

/** The value of one cookie, or null. */
export function cookieValue(header: string | null, name: string): string | null {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}

/** The session token in a cookie's value: better-auth appends a signature to it. */
export function tokenOf(value: string): string | null {
  try {
    const [token = ''] = decodeURIComponent(value).split('.');
    return token === '' ? null : token;
  } catch {
    return null;
  }
}

/** The session token that an answer sets, or null. */
export function tokenIn(setCookies: readonly string[], name: string): string | null {
  const cookie = setCookies.find((line) => line.startsWith(`${name}=`));
  return cookie === undefined ? null : tokenOf(cookieValue(cookie.split(';')[0] ?? '', name) ?? '');
}

/** The same browser without one of its cookies. */
export function withoutCookie(caller: Caller, name: string): Caller {
  if (caller.cookie === null) return caller;
  const parts = caller.cookie.split(';').filter((part) => part.split('=')[0]?.trim() !== name);
  return { ...caller, cookie: parts.join(';') };
}
