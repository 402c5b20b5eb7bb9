import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { isSameSecret } from '../../shared/constant-time.ts';

/**
 * Device cookies: a browser that has signed a person in before carries one. Its attempts are counted separately, so
 * that guesses from elsewhere never slow down the owner of the address.
 */
export interface Devices {
  /** The device's id when the cookie was made for this address, else null. */
  recognise(cookie: string | null, address: string): string | null;
  /** The value of a cookie for a new device. */
  issue(address: string): string;
}

const idBytes = 12;

export function createDevices({ secretKey }: { secretKey: Buffer }): Devices {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'steyg device', 32));
  const sign = (id: string, address: string): Buffer => createHmac('sha256', key).update(`${id}\0${address}`).digest();
  return {
    recognise(cookie, address) {
      const [id = '', signature = ''] = (cookie ?? '').split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = sign(id, address);
      return isSameSecret(given, expected) ? id : null;
    },
    issue(address) {
      const id = randomBytes(idBytes).toString('base64url');
      return `${id}.${sign(id, address).toString('base64url')}`;
    },
  };
}
