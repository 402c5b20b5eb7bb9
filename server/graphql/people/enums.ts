import type { TokenScope } from '../../people/principal.ts';
import type { Locale } from '../../shared/page.ts';
import { storedEnum } from '../types/enums.ts';

/** What tokens may do, and the languages of people. */

export const TokenScopeType = storedEnum('TokenScope', {
  description: 'What an access token may do.',
  values: {
    READ: { value: 'read', description: 'Look at the account.' },
    KEYS: { value: 'keys', description: 'Handle its API keys.' },
    BILLING: { value: 'billing', description: 'Make orders.' },
    OPERATOR: { value: 'operator', description: 'Operate the service; only operators can give it.' },
  } satisfies Record<string, { value: TokenScope; description: string }>,
});

/** Languages of mails, messages and pages. */
export const LanguageType = storedEnum('Language', {
  description: 'A language of mails, messages and pages.',
  values: {
    EN: { value: 'en', description: 'English.' },
    VI: { value: 'vi', description: 'Vietnamese.' },
  } satisfies Record<string, { value: Locale; description: string }>,
});
