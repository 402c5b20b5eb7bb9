/** Sessions are listed by names that people recognise. */

import { expect, it } from 'vitest';
import { deviceName } from '../../server/people/sign-in/device-name.ts';

const mozilla = 'Mozilla/5.0';
const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0';

it.each([
  [`${mozilla} (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`, 'Chrome on Windows'],
  [`${mozilla} (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/143.0.0.0`, 'Edge on Windows'],
  [`${mozilla} (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 OPR/110.0`, 'Opera on Windows'],
  [`${mozilla} (Windows NT 10.0) coc_coc_browser/118.0 ${chrome} Safari/537.36`, 'Cốc Cốc on Windows'],
  [
    `${mozilla} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15`,
    'Safari on macOS',
  ],
  [
    `${mozilla} (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1`,
    'Safari on iPhone',
  ],
  [
    `${mozilla} (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/143.0 Mobile/15E148 Safari/604.1`,
    'Chrome on iPhone',
  ],
  [
    `${mozilla} (Linux; Android 15; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
  [`${mozilla} (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0`, 'Firefox on Linux'],
  [
    `${mozilla} (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/143.0.0.0 Safari/537.36`,
    'Chrome on Linux',
  ],
  ['curl/8.5.0', 'curl'],
  ['', null],
  [null, null],
  ['x'.repeat(100_000), null],
])('%s', (userAgent, name) => {
  expect(deviceName(userAgent)).toBe(name);
});
