import { createSepayListing } from '../plans/bank/sepay-listing.ts';
import type { Config } from '../runtime/config.ts';
import { describeError } from '../runtime/http.ts';
import { createMailer, type MailLog } from '../runtime/mail.ts';
import type { SettingsTest } from '../settings/settings.ts';
import type { SettingGroup } from '../settings/table.ts';

/**
 * Tries settings before they are stored: what a wrong password, address or token would do to customers is seen by the
 * operator first. What a server answered is not shown, because it may quote a password.
 */
export function createSettingsTests({ dataDir, log }: { dataDir: string; log: MailLog }) {
  const tests: Partial<Record<SettingGroup, (config: Config, email: string | null) => Promise<string | null>>> = {
    async mail(config, email) {
      if (config.mail.smtpUrl === null) return 'No mail server is set.';
      if (email === null) return 'Only a person can get a test mail.';
      const mailer = createMailer({ settings: () => config.mail, dataDir, log, delaysMs: [] });
      try {
        await mailer.deliver({
          to: email,
          subject: 'Steyg: a test mail',
          text: 'This mail shows that the mail server of the service works.\n\nThư này cho thấy máy chủ thư của dịch vụ hoạt động.\n',
          links: [],
        });
        return null;
      } catch (error) {
        const { code } = describeError(error);
        return `The mail server did not take it${code === undefined ? '' : ` (${code})`}.`;
      } finally {
        await mailer.close();
      }
    },
    async sepay(config) {
      const { bank, bankProviders } = config;
      if (bankProviders.listing === null) return 'Without an API token there is nothing to ask.';
      if (bank === null || bank.isDemonstration) return 'The bank account is not set yet.';
      const listing = createSepayListing({ ...bankProviders.listing, accountNumber: bank.account, timeoutMs: 10_000 });
      return listing.listSince(new Date(Date.now() - 3_600_000)).then(
        () => null,
        () => 'SePay did not answer with a list of transfers: is it this account’s token?',
      );
    },
    async oidc({ signIn }) {
      const issuer = signIn.providers.oidc?.issuer;
      if (issuer === undefined) return 'The provider is not set.';
      // https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationRequest
      const address = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
      const found: unknown = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(10_000) }).then(
        (answer) => (answer.ok ? answer.json() : null),
        () => null,
      );
      const named = typeof found === 'object' && found !== null && 'issuer' in found ? found.issuer : null;
      return named === issuer ? null : 'No OpenID provider of that name answers at that address.';
    },
  };
  return async (group: SettingGroup, config: Config, email: string | null): Promise<SettingsTest> => {
    const test = tests[group];
    const problem = test === undefined ? 'These settings have no test.' : await test(config, email);
    return { ok: problem === null, problem };
  };
}
