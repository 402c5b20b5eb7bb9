import { fill } from './language/fill.ts';
import type { Texts } from './language/texts.ts';

/** A session's device in the page's language; the server names it in English, e.g. `Chrome on Linux`. */
export function deviceWords(device: string, t: Texts): string {
  const [browser = '', system] = device.split(' on ');
  return system === undefined ? device : fill(t.security.browserOn, { browser, system });
}
