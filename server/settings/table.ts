/**
 * The settings that operators may keep in the database instead of the environment: one table, from which the forms, the
 * GraphQL type and the documentation come. Each is an environment variable by the same name, checked by the same rules;
 * where the environment has it, the environment wins.
 */

export type SettingKind = 'text' | 'secret' | 'choice';

export interface SettingEntry {
  /** The environment variable. */
  name: string;
  kind: SettingKind;
  /** Of a choice: the first one is the default. */
  choices?: readonly string[];
  /** Whether the group does nothing without it. */
  required: boolean;
  description: string;
  /** What counts where it is not set; absent: nothing. */
  fallback?: string;
}

export interface GroupEntry {
  /** Below the public address: where a bank's provider sends its messages. */
  webhook?: 'sepay' | 'casso' | 'payos';
  /** Whether there is something to try before it is stored. */
  hasTest: boolean;
  /** Whether it is stored only after that try: a wrong one would lock people out. */
  isProved?: boolean;
  settings: readonly SettingEntry[];
}

const text = (name: string, description: string, required = true): SettingEntry => ({
  name,
  kind: 'text',
  required,
  description,
});
const secret = (name: string, description: string, required = true): SettingEntry => ({
  name,
  kind: 'secret',
  required,
  description,
});
const choice = (name: string, choices: readonly string[], description: string): SettingEntry => ({
  name,
  kind: 'choice',
  choices,
  required: false,
  description,
});

export const settingGroups = {
  address: {
    hasTest: true,
    isProved: true,
    settings: [text('PUBLIC_URL', 'The address that people and programs reach the service at.')],
  },
  payments: {
    hasTest: false,
    settings: [
      { ...text('ORDER_VALID_DAYS', 'For how many days an order waits for its transfer.', false), fallback: '3' },
      { ...text('MAX_OPEN_ORDERS', 'Unpaid orders of an account at a time.', false), fallback: '10' },
      {
        ...text('MAX_UNPAID_ORDERS_AN_HOUR', 'Orders of an account within an hour that stay unpaid.', false),
        fallback: '20',
      },
    ],
  },
  bank: {
    hasTest: true,
    settings: [
      text('BANK_BIN', 'The six digits that name the bank at NAPAS.'),
      text('BANK_ACCOUNT', 'The number of the account that customers pay to.'),
      text('BANK_NAME', 'Its holder, as the bank has the name.'),
    ],
  },
  sepay: {
    webhook: 'sepay',
    hasTest: true,
    settings: [
      secret('SEPAY_WEBHOOK_SECRET', 'Proves SePay’s messages about transfers.', false),
      choice('SEPAY_WEBHOOK_AUTH', ['hmac', 'apikey'], 'How its messages prove themselves.'),
      secret('SEPAY_API_TOKEN', 'Reads SePay’s list, for transfers that the webhook lost.', false),
    ],
  },
  casso: {
    webhook: 'casso',
    hasTest: false,
    settings: [secret('CASSO_WEBHOOK_SECRET', 'Proves Casso’s messages about transfers.')],
  },
  payos: {
    webhook: 'payos',
    hasTest: false,
    settings: [secret('PAYOS_CHECKSUM_KEY', 'Proves payOS’s messages about transfers.')],
  },
  mail: {
    hasTest: true,
    settings: [
      secret('SMTP_URL', 'The mail server with user and password, such as smtps://user:password@smtp.example.com.'),
      text('MAIL_FROM', 'Who mails are from, such as Steyg <no-reply@example.com>.', false),
    ],
  },
  google: {
    hasTest: true,
    settings: [text('GOOGLE_CLIENT_ID', 'The client at Google.'), secret('GOOGLE_CLIENT_SECRET', 'Its secret.')],
  },
  github: {
    hasTest: true,
    settings: [text('GITHUB_CLIENT_ID', 'The OAuth app at GitHub.'), secret('GITHUB_CLIENT_SECRET', 'Its secret.')],
  },
  oidc: {
    hasTest: true,
    settings: [
      text('OIDC_ISSUER', 'The address of the OpenID provider.'),
      text('OIDC_CLIENT_ID', 'The client there.'),
      secret('OIDC_CLIENT_SECRET', 'Its secret.'),
      text('OIDC_NAME', 'What people read on the button.', false),
    ],
  },
  einvoice: {
    hasTest: true,
    settings: [
      text('SEPAY_EINVOICE_CLIENT_ID', 'The client at SePay’s eInvoice API.'),
      secret('SEPAY_EINVOICE_CLIENT_SECRET', 'Its secret.'),
      text('SEPAY_EINVOICE_ACCOUNT_ID', 'The provider account, a UUID.'),
      text('SEPAY_EINVOICE_TEMPLATE', 'The template of the invoices.'),
      text('SEPAY_EINVOICE_SERIES', 'The series of the invoices.'),
      text('SEPAY_EINVOICE_TAX_RATE', 'VAT in percent: 0, 5, 8, 10; -2 not subject, -1 not declared.', false),
    ],
  },
} as const satisfies Record<string, GroupEntry>;

export type SettingGroup = keyof typeof settingGroups;
export const settingGroupNames = Object.keys(settingGroups) as SettingGroup[];

/** All names, for whoever asks which group one belongs to. */
export const storableSettings: ReadonlySet<string> = new Set(
  Object.values(settingGroups).flatMap(({ settings }) => settings.map(({ name }) => name)),
);
