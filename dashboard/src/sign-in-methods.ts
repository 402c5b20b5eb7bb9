/** How people sign in here: the operator may have them use providers alone. */

import { useAsk } from './data.tsx';

/** Until they are known, passwords are taken to be allowed: nearly everywhere they are. */
export function useSignInMethods() {
  const { data } = useAsk({
    key: ['sign-in-methods'],
    ask: (steyg, signal) => steyg.console.people.signInMethods({}, { signal }),
  });
  return data ?? { passwords: true, passkeys: false, providers: [] };
}
