/** What tries of settings can show: what was proved, and what only use will show. */

interface FindingEntry {
  /** Whether the settings do what they are for, as far as a try can show. */
  ok: boolean;
  sentence: string;
}

export const findings = {
  address_leads_here: { ok: true, sentence: 'This service answers at the address, asked from its own server.' },
  address_elsewhere: {
    ok: false,
    sentence: 'Something else answers at the address, or the way there changes answers.',
  },
  mail_taken: { ok: true, sentence: 'The mail server took a mail to you. Whether it arrives shows in your inbox.' },
  mail_refused: { ok: false, sentence: 'The mail server did not take the mail.' },
  no_recipient: { ok: false, sentence: 'Only a person can get a test mail.' },
  account_watched: { ok: true, sentence: 'SePay watches this account: number, bank and holder are as it has them.' },
  account_unwatched: { ok: false, sentence: 'SePay watches no account of this number.' },
  bank_differs: { ok: false, sentence: 'SePay has this account at another bank.' },
  holder_differs: { ok: false, sentence: 'SePay has this account under another holder.' },
  transfer_needed: {
    ok: false,
    sentence:
      'Without SePay’s API token nobody can be asked: make a small transfer, it shows here when a provider tells.',
  },
  transfers_listed: {
    ok: true,
    sentence: 'SePay lists transfers of the account. That its messages arrive shows with a first transfer.',
  },
  transfers_refused: { ok: false, sentence: 'SePay did not answer with transfers: is it this account’s token?' },
  client_known: {
    ok: true,
    sentence:
      'The provider takes this client’s secret and refuses another. That it sends people back shows with a first sign-in.',
  },
  client_refused: { ok: false, sentence: 'The provider does not know the client, or its secret is wrong.' },
  redirect_refused: { ok: false, sentence: 'The provider knows the client, but not the redirect address.' },
  client_unproved: {
    ok: false,
    sentence: 'The provider is there, but its answers do not tell whether the secret is right: try a sign-in.',
  },
  issuer_unknown: { ok: false, sentence: 'No OpenID provider of that name answers at that address.' },
  series_known: {
    ok: true,
    sentence: 'The provider has this template and series for the account. No invoice was made.',
  },
  series_unknown: { ok: false, sentence: 'The account has no such template and series.' },
  einvoice_account_unknown: { ok: false, sentence: 'The client has no such provider account.' },
  einvoice_account_inactive: { ok: false, sentence: 'The provider account is switched off.' },
  unreachable: { ok: false, sentence: 'No answer, or none that can be understood.' },
  not_set: { ok: false, sentence: 'There is nothing to try yet: settings are missing.' },
} as const satisfies Record<string, FindingEntry>;

export type SettingsFinding = keyof typeof findings;

/** What a try of settings showed. `detail`: a code, a status or the right names; null: there is none. */
export interface SettingsTest {
  finding: SettingsFinding;
  detail: string | null;
}
