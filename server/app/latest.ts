import type { PublicAddress } from '../settings/settings.ts';

/** What follows settings that operators change while the service runs. */

interface Latest<Setting extends object, Made> {
  (setting: Setting): Made;
  /** Null makes null. */
  (setting: Setting | null): Made | null;
}

/** Makes something of a setting, and anew only when the setting has changed. */
export function latest<Setting extends object, Made>(make: (setting: Setting) => Made): Latest<Setting, Made> {
  let last: { key: string; made: Made } | null = null;
  return ((setting: Setting | null): Made | null => {
    if (setting === null) return null;
    const key = JSON.stringify(setting);
    if (last?.key !== key) last = { key, made: make(setting) };
    return last.made;
  }) as Latest<Setting, Made>;
}

/** Gives parts the public address in force at each reading. A copy of them (`...parts`) would keep the one of its moment. */
export function withAddress<Parts extends object>(address: PublicAddress, parts: Parts): Parts & PublicAddress {
  return Object.defineProperty(parts, 'publicUrl', {
    enumerable: true,
    get: () => address.publicUrl,
  }) as Parts & PublicAddress;
}
