/**
 * Tries settings before they are stored: what a wrong password, address or token would do to customers is seen by the
 * operator first. What a server answered is not shown, because it may quote a password.
 */

import { createProviders, type ProviderSettings } from '../people/sign-in/providers.ts';
import { createSepayListing, listSepayAccounts } from '../plans/bank/sepay-listing.ts';
import { createSepayEinvoice } from '../plans/papers/sepay-einvoice.ts';
import type { Config } from '../runtime/config.ts';
import { describeError } from '../runtime/http.ts';
import { createMailer, type MailLog } from '../runtime/mail.ts';
import type { SettingsFinding, SettingsTest } from '../settings/findings.ts';
import type { SettingGroup } from '../settings/table.ts';
import type { AddressProof } from './address-proof.ts';

type Test = (config: Config, email: string | null) => Promise<SettingsTest>;

const found = (finding: SettingsFinding, detail: string | null = null): SettingsTest => ({ finding, detail });

const timeoutMs = 10_000;

export function createSettingsTests({
  dataDir,
  address,
  log,
}: {
  dataDir: string;
  address: Pick<AddressProof, 'examine'>;
  log: MailLog;
}) {
  const tests: Partial<Record<SettingGroup, Test>> = {
    async address({ publicUrl }) {
      const finding = await address.examine(publicUrl);
      if (finding.kind === 'here') return found('address_leads_here');
      return found(finding.kind === 'elsewhere' ? 'address_elsewhere' : 'unreachable', finding.detail);
    },
    bank: tryBank,
    sepay: trySepay,
    async mail(config, email) {
      if (config.mail.smtpUrl === null) return found('not_set');
      if (email === null) return found('no_recipient');
      const mailer = createMailer({ settings: () => config.mail, dataDir, log, delaysMs: [] });
      try {
        await mailer.deliver({
          to: email,
          subject: 'Steyg: a test mail',
          text: 'This mail shows that the mail server of the service works.\n\nThư này cho thấy máy chủ thư của dịch vụ hoạt động.\n',
          links: [],
        });
        return found('mail_taken', email);
      } catch (error) {
        return found('mail_refused', describeError(error).code ?? null);
      } finally {
        await mailer.close();
      }
    },
    google: (config) => tryClient('google', config),
    github: (config) => tryClient('github', config),
    oidc: (config) => tryClient('oidc', config),
    einvoice: tryEinvoice,
  };
  return async (group: SettingGroup, config: Config, email: string | null): Promise<SettingsTest> =>
    tests[group]?.(config, email) ?? found('not_set');
}

/** Of a bank only its customer can be sure; SePay has read the account's number, bank and holder from it. */
const tryBank: Test = async ({ bank, bankProviders: { listing } }) => {
  if (bank === null || bank.isDemonstration) return found('not_set');
  if (listing === null) return found('transfer_needed');
  try {
    const watched = (await listSepayAccounts({ ...listing, timeoutMs })).find(({ number }) => number === bank.account);
    if (watched === undefined) return found('account_unwatched');
    if (watched.bin !== bank.bin) return found('bank_differs', watched.bin);
    if (plain(watched.holder) !== plain(bank.name)) return found('holder_differs', watched.holder);
    return found('account_watched');
  } catch {
    return found('transfers_refused');
  }
};

/** As banks write names: capitals without marks. */
function plain(name: string): string {
  const letters = name.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll(/[đĐ]/g, 'd');
  return letters.toUpperCase().replaceAll(/\s+/g, ' ').trim();
}

const trySepay: Test = async ({ bank, bankProviders: { listing } }) => {
  if (listing === null || bank === null || bank.isDemonstration) return found('not_set');
  const transfers = createSepayListing({ ...listing, accountNumber: bank.account, timeoutMs });
  return transfers.listSince(new Date(Date.now() - 3_600_000)).then(
    () => found('transfers_listed'),
    () => found('transfers_refused'),
  );
};

async function tryClient(id: keyof ProviderSettings, { signIn, publicUrl }: Config): Promise<SettingsTest> {
  const { providers, allowHttpProviders: allowHttp } = signIn;
  const provider = createProviders({ settings: providers, publicUrl, allowHttp }).find((each) => each.id === id);
  return found(provider === undefined ? 'not_set' : await provider.examine());
}

const tryEinvoice: Test = async ({ einvoice }) => {
  if (einvoice === null) return found('not_set');
  const shown = await createSepayEinvoice({ ...einvoice, timeoutMs }).examine();
  switch (shown.kind) {
    case 'series_unknown':
      return found('series_unknown', shown.known.join(', '));
    case 'account_unknown':
    case 'account_inactive':
      return found(`einvoice_${shown.kind}`);
    case 'client_refused':
    case 'series_known':
    case 'unreachable':
      return found(shown.kind);
  }
};
