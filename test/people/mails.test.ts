import { describe, expect, it } from 'vitest';
import {
  accountErasedMail,
  alreadySignedUpMail,
  emailChangeMail,
  identityMail,
  invitationMail,
  linkIdentityMail,
  newAddressMail,
  passwordResetMail,
  securityMail,
  verificationMail,
} from '../../server/people/mails.ts';
import type { Locale } from '../../server/shared/page.ts';

/** The mails about people's sign-in. */

const to = 'a@example.com';
const link = 'https://host.example/sub/gate/somewhere?token=x';

const mails = {
  'a sign-up': (locale: Locale) => verificationMail(to, locale, link),
  'a second sign-up': (locale: Locale) => alreadySignedUpMail(to, locale, link),
  'a forgotten password': (locale: Locale) => passwordResetMail(to, locale, link),
  'a change of address': (locale: Locale) => emailChangeMail(to, locale, 'b@example.com', link),
  'a new address': (locale: Locale) => newAddressMail(to, locale, link),
  'a changed password': (locale: Locale) => securityMail(to, locale, 'password', link),
  'one-time codes that are on': (locale: Locale) => securityMail(to, locale, 'second_factor_on', link),
  'passkeys that a recovery removed': (locale: Locale) => securityMail(to, locale, 'ways_removed_by_reset', link),
  'an account elsewhere that was linked': (locale: Locale) =>
    identityMail(to, locale, 'linked', 'id.example.com', link),
  'an account elsewhere that was removed': (locale: Locale) =>
    identityMail(to, locale, 'removed', 'id.example.com', link),
  'an account elsewhere to be linked': (locale: Locale) => linkIdentityMail(to, locale, 'id.example.com', link),
  'an erased account': (locale: Locale) => accountErasedMail(to, locale, link),
  'one-time codes that are off': (locale: Locale) => securityMail(to, locale, 'second_factor_off', link),
  'an invitation': (locale: Locale) => invitationMail(to, locale, 'Acme <b>', 'Bình', link),
};

describe.each(Object.entries(mails))('a mail about %s', (_about, make) => {
  it('is written in both languages, each its own, and leads to the one place where something can be done', () => {
    const [english, vietnamese] = [make('en'), make('vi')];
    for (const mail of [english, vietnamese]) {
      expect(mail).toMatchObject({ to, links: [link] });
      expect(mail.text.endsWith(`\n\n${link}\n`)).toBe(true);
      expect(mail.subject).toMatch(/\S/);
    }
    expect(vietnamese.subject).not.toBe(english.subject);
    expect(vietnamese.text).toMatch(/[ạảấầẩậắằẳẵặđẹẻếềểệỉịọỏốồổộớờởợụủứừửựỷỹ]/);
    expect(english.text.replaceAll('Bình', '')).toMatch(/^[\x20-\x7e\n]+$/);
  });
});
