import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { TelemetrySettings } from './telemetry/telemetry.ts';
import { readPairs, samplers, telemetryOf } from './telemetry/telemetry-settings.ts';

/**
 * Configuration is read once, here, and nowhere else. All other code gets typed values with the unit in their names.
 * Every variable may also be given as a file (`NAME_FILE=/run/secrets/name`), as container platforms provide secrets.
 * An empty variable counts as absent.
 */

/** All problems of the environment at once, so that one start reports them all. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The environment has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((line) => `  - ${line}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/** A whole number with its unit in the sentence that refuses another. */
const whole = (unit: string, { least, most, fallback }: { least: number; most: number; fallback: number }) => {
  const sentence = `must be a whole number${unit} from ${least} to ${most}`;
  return z.coerce.number(sentence).int(sentence).min(least, sentence).max(most, sentence).default(fallback);
};
const milliseconds = (fallback: number, least = 1) => whole(' of milliseconds', { least, most: 86_400_000, fallback });
const count = (fallback: number, most: number) => whole('', { least: 1, most, fallback });
const days = (least: number, fallback: number) => whole(' of days', { least, most: 36_500, fallback });
const flag = (fallback: '0' | '1' = '0') =>
  z
    .enum(['0', '1'], 'must be 0 or 1')
    .default(fallback)
    .transform((value) => value === '1');
const port = z.coerce.number('must be a port').int('must be a port').min(0).max(65_535);
/** Normalised: paths are appended as text, and the scheme `https:` decides the attributes of cookies. */
const httpUrl = z
  .url({ protocol: /^https?$/i, error: 'must be an http(s) address' })
  .transform((value) => new URL(value))
  .refine(
    ({ username, password, search, hash }) => username + password + search + hash === '',
    'must be an address without user, query or fragment',
  )
  .transform((url) => url.href.replace(/\/+$/, ''));
const host = z
  .string()
  .refine((value) => URL.canParse(`http://${inUrl(value)}/`) && !/[/?#@]/.test(value), 'must be an address or a name');

function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** The default public address. A wildcard address of the machine is not one that people can open. */
function urlOf(host: string, port: number): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? 'localhost' : inUrl(host);
  return new URL(`http://${reached}:${port}`).origin;
}

const secretKey = z
  .base64('must be base64')
  .refine((value) => Buffer.from(value, 'base64').length === 32, 'must be 32 bytes in base64');

/** Several hosts are separated by commas, as libpq has it; each must make an address. */
const databaseUrl = z.string().refine((text) => {
  const [, scheme = '', hosts = '', rest = ''] = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/s.exec(text) ?? [];
  return scheme !== '' && hosts.split(',').every((host) => URL.canParse(scheme + host + rest));
}, 'must be a postgresql:// address');

const pairs = z.string().refine((text) => readPairs(text) !== null, 'must be key=value pairs with commas between them');
const exporter = z.enum(['otlp', 'none'], 'must be otlp or none').default('otlp');

const variables = z.object({
  NODE_ENV: z.string().default('development'),
  HOST: host.default('127.0.0.1'),
  PORT: port.default(8787),
  PUBLIC_URL: httpUrl.optional(),
  SDK_PACKAGE: z
    .string()
    .regex(/^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(@[\w.^~-]+)?$/, 'must be the name of an npm package')
    .optional(),
  TRUST_PROXY: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(
      z.array(
        z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must list addresses or networks, e.g. 10.0.0.0/8'),
      ),
    )
    .default([]),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_DIRECT_URL: databaseUrl.optional(),
  DATABASE_REPLICA_URL: databaseUrl.optional(),
  DATA_DIR: z.string().default('.data'),
  CATALOG_FILE: z.string().optional(),
  UPSTREAMS_FROM_ENV: flag(),
  SECRET_KEY: secretKey.optional(),
  SECRET_KEY_PREVIOUS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(secretKey))
    .default([]),
  ALLOW_PRIVATE_UPSTREAMS: flag(),
  ALLOW_PRIVATE_WEBHOOKS: flag(),
  TELEGRAM_API_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .default('https://api.telegram.org'),
  GOOGLE_CLIENT_ID: z.string().min(1).optional(),
  GOOGLE_CLIENT_SECRET: z.string().min(1).optional(),
  GITHUB_CLIENT_ID: z.string().min(1).optional(),
  GITHUB_CLIENT_SECRET: z.string().min(1).optional(),
  OIDC_ISSUER: z.url({ protocol: /^https?$/, error: 'must be an https:// address' }).optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  OIDC_NAME: z.string().min(1).max(40).default('OpenID'),
  PASSWORD_SIGN_IN: flag('1'),
  WORKERS: count(1, 64),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ADMIN_EMAIL: z.email('must be an e-mail address').optional(),
  ADMIN_PASSWORD: z.string().min(10, 'must have at least 10 characters').max(1024).optional(),

  ADMISSION_TIMEOUT_MS: milliseconds(1_000),
  HOLD_LEASE_MS: milliseconds(60_000, 200),
  DRAIN_MS: milliseconds(25_000, 0),
  DRAIN_IDLE_MS: milliseconds(5_000, 0),
  UPSTREAM_HEADERS_TIMEOUT_MS: milliseconds(120_000),
  UPSTREAM_REPLY_TIMEOUT_MS: milliseconds(610_000),
  UPSTREAM_IDLE_TIMEOUT_MS: milliseconds(120_000),
  FIRST_EVENT_HOLD_MS: milliseconds(10_000),
  KEEPALIVE_MS: milliseconds(15_000),
  BATCH_POLL_MS: milliseconds(30_000),
  CLIENT_STALL_MS: milliseconds(60_000),
  MAX_CONCURRENT_PER_KEY: count(60, 100_000),
  MAX_CONCURRENT_PER_ACCOUNT: count(100, 100_000),
  MAX_CONCURRENT_TRIAL: count(4, 100_000),
  MAX_REQUESTS_PER_MINUTE_PER_KEY: count(600_000, 1_000_000_000),
  MAX_REQUESTS_PER_MINUTE_PER_ACCOUNT: count(600_000, 1_000_000_000),
  MAX_REQUESTS_PER_MINUTE_TRIAL: count(600, 1_000_000_000),
  OVERLOAD_LAG_MS: milliseconds(200),
  MAX_RSS_MB: z.coerce.number('must be a number of megabytes').int().min(1).max(16_777_216).optional(),

  RETAIN_SESSIONS_DAYS: days(1, 30),
  RETAIN_AUDIT_DAYS: days(30, 3_653),
  RETAIN_ATTRIBUTION_DAYS: days(1, 400),
  LEDGER_KEEP_MONTHS: z.coerce.number('must be a number of months').int().min(1).max(1_200).optional(),
  LEDGER_ARCHIVE_DIR: z.string().min(1).optional(),

  PROBES: flag('1'),

  SIMULATOR_PORT: port.default(0),
  SIMULATOR_RECORD: flag(),
  SIMULATOR_RAW: z.enum(['0', '1'], 'must be 0 or 1').optional(),
  SIMULATOR_TOKENS_PER_SECOND: z.coerce.number().min(0).max(1_000_000).optional(),
  SIMULATOR_FIRST_TOKEN_MS: z.coerce.number().int().min(0).max(600_000).optional(),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// address' }).optional(),
  MAIL_FROM: z.string().default('Steyg <no-reply@localhost>'),
  BANK_BIN: z
    .string()
    .regex(/^\d{6}$/, 'must be the six digits of the bank')
    .optional(),
  BANK_ACCOUNT: z
    .string()
    .regex(/^[A-Za-z0-9]{4,19}$/, 'must be an account number')
    .optional(),
  BANK_NAME: z.string().max(60).optional(),
  ORDER_VALID_DAYS: count(3, 90),
  MAX_OPEN_ORDERS: count(10, 100),
  MAX_UNPAID_ORDERS_AN_HOUR: count(20, 1_000),
  SEPAY_WEBHOOK_SECRET: z.string().optional(),
  SEPAY_WEBHOOK_AUTH: z.enum(['hmac', 'apikey'], 'must be hmac or apikey').default('hmac'),
  SEPAY_API_TOKEN: z.string().optional(),
  SEPAY_API_URL: httpUrl.default('https://my.sepay.vn/userapi'),
  SEPAY_EINVOICE_CLIENT_ID: z.string().optional(),
  SEPAY_EINVOICE_CLIENT_SECRET: z.string().optional(),
  SEPAY_EINVOICE_ACCOUNT_ID: z.uuid('must be the UUID of a provider account').optional(),
  SEPAY_EINVOICE_TEMPLATE: z.string().max(20).optional(),
  SEPAY_EINVOICE_SERIES: z.string().max(20).optional(),
  SEPAY_EINVOICE_TAX_RATE: z
    .enum(['-2', '-1', '0', '5', '8', '10'], 'must be -2, -1, 0, 5, 8 or 10')
    .transform(Number)
    .optional(),
  SEPAY_EINVOICE_URL: httpUrl.default('https://einvoice-api.sepay.vn'),
  CASSO_WEBHOOK_SECRET: z.string().optional(),
  PAYOS_CHECKSUM_KEY: z.string().optional(),

  OTEL_SDK_DISABLED: z.enum(['true', 'false'], 'must be true or false').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/json'], 'must be http/json, which every collector takes')
    .default('http/json'),
  OTEL_EXPORTER_OTLP_TIMEOUT: milliseconds(10_000),
  OTEL_EXPORTER_OTLP_COMPRESSION: z.enum(['none', 'gzip'], 'must be none or gzip').default('none'),
  OTEL_TRACES_EXPORTER: exporter,
  OTEL_METRICS_EXPORTER: exporter,
  OTEL_METRIC_EXPORT_INTERVAL: milliseconds(60_000),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(', ')}`).default('always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number('must be a share from 0 to 1').min(0).max(1).default(1),
  OTEL_BSP_SCHEDULE_DELAY: milliseconds(5_000),
  OTEL_PROPAGATORS: z.enum(['tracecontext', 'none'], 'must be tracecontext or none').default('tracecontext'),
  OTEL_SERVICE_NAME: z.string().default('steyg'),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional(),

  ANTHROPIC_API_KEY: z.string().optional(),
  OPENAI_API_KEY: z.string().optional(),
  DEEPSEEK_API_KEY: z.string().optional(),
  OPENROUTER_API_KEY: z.string().optional(),
  GEMINI_API_KEY: z.string().optional(),
});

type Variables = z.output<typeof variables>;

/** The service's settings. Times are milliseconds. */
export interface Config {
  production: boolean;
  host: string;
  port: number;
  /** The public address, without a trailing slash. Derived from host and port when not given. */
  publicUrl: string;
  /** The published package that pages name instead of the server's own `/sdk.tgz`; null: none is published. */
  sdkPackage: string | null;
  /** Addresses and networks of trusted proxies, whose forwarded client address is used. */
  trustedProxies: readonly string[];
  /** Null: the server runs its own embedded PostgreSQL. */
  databaseUrl: string | null;
  /** PostgreSQL itself, when `databaseUrl` is a pooler in transaction mode; null: the same. */
  databaseDirectUrl: string | null;
  /** A streaming replica, from which history is read; null: none. */
  databaseReplicaUrl: string | null;
  dataDir: string;
  catalogFile: string | null;
  upstreamsFromEnv: boolean;
  /** 32 bytes; null: generated into `dataDir` on the first start (never in production). */
  secretKey: Buffer | null;
  /** Previous keys: secrets that they sealed are resealed at the start. */
  previousSecretKeys: readonly Buffer[];
  allowPrivateUpstreams: boolean;
  /** Separate from upstreams, because customers choose these addresses, and operators those. */
  allowPrivateWebhooks: boolean;
  /** Telegram's bot API, or an own server of it. */
  telegramUrl: string;
  /** How people sign in: with passwords, and with accounts elsewhere. */
  signIn: {
    passwordSignIn: boolean;
    /** Whether an OpenID provider without TLS is asked: never in production. */
    allowHttpProviders: boolean;
    providers: {
      google: { clientId: string; clientSecret: string } | null;
      github: { clientId: string; clientSecret: string } | null;
      oidc: { clientId: string; clientSecret: string; issuer: string; name: string } | null;
    };
  };
  workers: number;
  logLevel: string;
  admin: { email: string | null; password: string | null };
  /** How long a request may wait until its budget is checked. */
  admissionTimeoutMs: number;
  holdLeaseMs: number;
  drainMs: number;
  /** How long a stopping process keeps connections that clients may use again. */
  drainIdleMs: number;
  timeouts: GatewayTimeouts;
  /** How often a vendor is asked about a batch. */
  batchPollMs: number;
  limits: { perKey: number; perAccount: number; trial: number };
  /** The sustained lateness of the event loop above which new requests are refused. */
  overloadLagMs: number;
  /** Requests per minute, counted across processes. */
  requestRates: { perKey: number; perAccount: number; trial: number };
  /** Resident memory above which a process takes no new requests; null: a share of the machine's or the container's. */
  maxRssBytes: number | null;
  /** Whether the service probes its own models, at the pace of its settings. */
  probes: boolean;
  /** `raw`: texts may script the bytes, headers and usage of simulated answers. */
  simulator: {
    port: number;
    record: boolean;
    raw: boolean;
    tokensPerSecond: number | null;
    firstTokenMs: number | null;
  };
  metricsToken: string | null;
  /** Traces and metrics for a collector; null: none are sent. */
  telemetry: TelemetrySettings | null;
  mail: { smtpUrl: string | null; from: string };
  /** The bank account of customers' payments. Null in production while BANK_* is not set: nothing is sold then. */
  bank: BankConfig | null;
  /** How long orders wait, and how many of them an account has. */
  orderLimits: { lifetimeMs: number; open: number; unpaidAnHour: number };
  /** The webhooks that report transfers. A secret that is absent or empty refuses every message of its webhook. */
  bankProviders: {
    sepay: { secret: string; scheme: 'hmac' | 'apikey' };
    casso: { secret: string };
    payos: { secret: string };
    /** SePay's list of transactions, for transfers that webhooks lost; null: it is not queried. */
    listing: { token: string; baseUrl: string } | null;
  };
  /** How long sessions that nobody uses and entries of the audit log are kept, in days. */
  retention: { sessionDays: number; auditDays: number; attributionDays: number };
  /** Whole months before the present one that stay in the ledger, and the folder of the archives; null: not said. */
  ledgerArchive: { keepMonths: number | null; directory: string | null };
  /** Where e-invoices of paid orders are issued; null: none are issued. */
  einvoice: EinvoiceConfig | null;
  /** What operators may store below the environment (`../settings/table.ts`). */
  overlay: ConfigOverlay;
  /** The vendor key that an environment variable carries, for `apiKeyEnv` of the catalog file. */
  vendorKey(variable: string): string | undefined;
}

/** Variables from elsewhere, below those of the environment and by the same rules. */
export interface ConfigOverlay {
  /** Whether the environment has the variable: then it wins. */
  isGiven(name: string): boolean;
  /** Its value there; empty: it has none. */
  given(name: string): string;
  /** The configuration with these values below the environment's, or what is wrong with the two together. */
  read(
    values: Readonly<Record<string, string>>,
  ): { config: Config } | { problems: readonly { name: string | null; message: string }[] };
}

export interface GatewayTimeouts {
  /** Timeout of an upstream's headers when the answer is streamed. */
  headersMs: number;
  /** Timeout of an upstream's headers when the answer is not streamed: it is generated whole first. */
  replyMs: number;
  /** Timeout of silence in the middle of an answer. */
  idleMs: number;
  /** How long the client's status waits for the first event of a stream. */
  firstEventMs: number;
  /** Silence towards the client after which a keep-alive is sent. */
  keepAliveMs: number;
  /** How long a client may read nothing while bytes wait for it. */
  clientStallMs: number;
  /** How long a stream is read on for its usage after its client left. An answer that is not streamed has `replyMs`. */
  leftMs: number;
}

/** A bank account as orders show it. `isDemonstration`: fictitious, so it cannot be paid. */
export interface BankConfig {
  bin: string;
  account: string;
  name: string;
  isDemonstration: boolean;
}

/** SePay's eInvoice API. */
export interface EinvoiceConfig {
  clientId: string;
  clientSecret: string;
  /** The provider account at SePay: a UUID. */
  accountId: string;
  templateCode: string;
  series: string;
  /** Percent of VAT in the price; -2: not subject to tax, -1: not declared; null: a sales invoice without tax. */
  taxRate: number | null;
  /** Without a trailing slash. */
  baseUrl: string;
}

const einvoiceNames = [
  'SEPAY_EINVOICE_CLIENT_ID',
  'SEPAY_EINVOICE_CLIENT_SECRET',
  'SEPAY_EINVOICE_ACCOUNT_ID',
  'SEPAY_EINVOICE_TEMPLATE',
  'SEPAY_EINVOICE_SERIES',
] as const;

const providerGroups = [
  ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
  ['GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET'],
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
] as const;

/** A provider that is set up by half would refuse everybody, and no way to sign in at all would lock the service. */
function providerProblems(v: Variables): string[] {
  const problems = providerGroups.flatMap((group) => {
    const missing = group.filter((name) => v[name] === undefined);
    if (missing.length === 0 || missing.length === group.length) return [];
    return [
      `${missing.join(', ')}: required together with ${group.filter((name) => v[name] !== undefined).join(', ')}`,
    ];
  });
  const { google, github, oidc } = signInOf(v).providers;
  if (!v.PASSWORD_SIGN_IN && google === null && github === null && oidc === null)
    problems.push('PASSWORD_SIGN_IN: 0 requires a provider (GOOGLE_*, GITHUB_* or OIDC_*)');
  if (v.NODE_ENV === 'production' && v.OIDC_ISSUER?.startsWith('http:') === true)
    problems.push('OIDC_ISSUER: must be an https:// address in production');
  return problems;
}

function signInOf(v: Variables): Config['signIn'] {
  const client = (clientId: string | undefined, clientSecret: string | undefined) =>
    clientId === undefined || clientSecret === undefined ? null : { clientId, clientSecret };
  const oidc = client(v.OIDC_CLIENT_ID, v.OIDC_CLIENT_SECRET);
  return {
    passwordSignIn: v.PASSWORD_SIGN_IN,
    allowHttpProviders: v.NODE_ENV !== 'production',
    providers: {
      google: client(v.GOOGLE_CLIENT_ID, v.GOOGLE_CLIENT_SECRET),
      github: client(v.GITHUB_CLIENT_ID, v.GITHUB_CLIENT_SECRET),
      oidc: oidc === null || v.OIDC_ISSUER === undefined ? null : { ...oidc, issuer: v.OIDC_ISSUER, name: v.OIDC_NAME },
    },
  };
}

/** Half of the settings would issue no invoice, or one in a wrong series. */
function einvoiceProblems(v: Variables): string[] {
  const missing = einvoiceNames.filter((name) => v[name] === undefined);
  if (missing.length === 0 || missing.length === einvoiceNames.length) return [];
  return [`${missing.join(', ')}: required when another SEPAY_EINVOICE_ variable is set`];
}

function einvoiceOf(v: Variables): EinvoiceConfig | null {
  const [clientId, clientSecret, accountId, templateCode, series] = einvoiceNames.map((name) => v[name]);
  if (!clientId || !clientSecret || !accountId || !templateCode || !series) return null;
  const taxRate = v.SEPAY_EINVOICE_TAX_RATE ?? null;
  return { clientId, clientSecret, accountId, templateCode, series, taxRate, baseUrl: v.SEPAY_EINVOICE_URL };
}

/** No bank has these digits, so that an app that reads the code by mistake pays to no account. */
const demonstration = { bin: '000000', account: '0000000000', name: 'STEYG DEMO' };

function bankOf(v: Variables): BankConfig | null {
  if (v.BANK_ACCOUNT === undefined)
    return v.NODE_ENV === 'production' ? null : { ...demonstration, isDemonstration: true };
  return {
    bin: v.BANK_BIN ?? demonstration.bin,
    account: v.BANK_ACCOUNT,
    name: v.BANK_NAME ?? demonstration.name,
    isDemonstration: false,
  };
}

/** An incomplete account would send customers' money to another bank, or under another name. */
function bankProblems(v: Variables): string[] {
  const names = ['BANK_BIN', 'BANK_ACCOUNT', 'BANK_NAME'] as const;
  const missing = names.filter((name) => v[name] === undefined);
  if (missing.length === 0 || missing.length === names.length) return [];
  return [`${missing.join(', ')}: required in production when another BANK_ variable is set`];
}

/**
 * Parses the environment. Throws `ConfigError` with all problems at once. `readFile` is replaced in tests; it reads the
 * files that `NAME_FILE` variables point to.
 */
export function loadConfig(
  env: Record<string, string | undefined>,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): Config {
  const problems: string[] = [];
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value !== '') given[name] = value;
  }
  for (const name of Object.keys(variables.shape)) {
    const path = given[`${name}_FILE`];
    if (path === undefined || name === 'CATALOG') continue;
    if (given[name] !== undefined) problems.push(`${name} and ${name}_FILE are both set; keep one`);
    else {
      try {
        given[name] = readFile(path).trim();
      } catch {
        problems.push(`${name}_FILE: cannot read ${path}`);
      }
    }
  }
  const parsed = variables.safeParse(given);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problems.push(`${String(issue.path[0])}: ${issue.message}`);
  } else if (parsed.data.NODE_ENV === 'production' && parsed.data.SECRET_KEY === undefined) {
    problems.push('SECRET_KEY: required in production (32 random bytes in base64: `openssl rand -base64 32`)');
  }
  if (parsed.success && parsed.data.DATABASE_DIRECT_URL !== undefined && parsed.data.DATABASE_URL === undefined)
    problems.push('DATABASE_DIRECT_URL: DATABASE_URL is required beside it');
  if (parsed.success && parsed.data.DATABASE_REPLICA_URL !== undefined && parsed.data.DATABASE_URL === undefined)
    problems.push('DATABASE_REPLICA_URL: DATABASE_URL is required beside it');
  if (parsed.success && parsed.data.NODE_ENV === 'production') problems.push(...bankProblems(parsed.data));
  if (parsed.success) problems.push(...einvoiceProblems(parsed.data), ...providerProblems(parsed.data));
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);

  const v = parsed.data;
  return {
    production: v.NODE_ENV === 'production',
    host: v.HOST,
    port: v.PORT,
    publicUrl: v.PUBLIC_URL ?? urlOf(v.HOST, v.PORT),
    sdkPackage: v.SDK_PACKAGE ?? null,
    trustedProxies: v.TRUST_PROXY,
    databaseUrl: v.DATABASE_URL ?? null,
    databaseDirectUrl: v.DATABASE_DIRECT_URL ?? null,
    databaseReplicaUrl: v.DATABASE_REPLICA_URL ?? null,
    dataDir: v.DATA_DIR,
    catalogFile: v.CATALOG_FILE ?? null,
    upstreamsFromEnv: v.UPSTREAMS_FROM_ENV,
    secretKey: v.SECRET_KEY === undefined ? null : Buffer.from(v.SECRET_KEY, 'base64'),
    previousSecretKeys: v.SECRET_KEY_PREVIOUS.map((key) => Buffer.from(key, 'base64')),
    allowPrivateUpstreams: v.ALLOW_PRIVATE_UPSTREAMS,
    allowPrivateWebhooks: v.ALLOW_PRIVATE_WEBHOOKS,
    telegramUrl: v.TELEGRAM_API_URL.replace(/\/+$/, ''),
    workers: v.WORKERS,
    logLevel: v.LOG_LEVEL,
    admin: { email: v.ADMIN_EMAIL ?? null, password: v.ADMIN_PASSWORD ?? null },
    admissionTimeoutMs: v.ADMISSION_TIMEOUT_MS,
    holdLeaseMs: v.HOLD_LEASE_MS,
    drainMs: v.DRAIN_MS,
    drainIdleMs: v.DRAIN_IDLE_MS,
    timeouts: {
      headersMs: v.UPSTREAM_HEADERS_TIMEOUT_MS,
      // A shortened headers time-out shortens both, unless the other one is set explicitly.
      replyMs:
        given['UPSTREAM_REPLY_TIMEOUT_MS'] === undefined && given['UPSTREAM_HEADERS_TIMEOUT_MS'] !== undefined
          ? v.UPSTREAM_HEADERS_TIMEOUT_MS
          : v.UPSTREAM_REPLY_TIMEOUT_MS,
      idleMs: v.UPSTREAM_IDLE_TIMEOUT_MS,
      firstEventMs: v.FIRST_EVENT_HOLD_MS,
      keepAliveMs: v.KEEPALIVE_MS,
      clientStallMs: v.CLIENT_STALL_MS,
      leftMs: 30_000,
    },
    batchPollMs: v.BATCH_POLL_MS,
    limits: {
      perKey: v.MAX_CONCURRENT_PER_KEY,
      perAccount: v.MAX_CONCURRENT_PER_ACCOUNT,
      trial: v.MAX_CONCURRENT_TRIAL,
    },
    requestRates: {
      perKey: v.MAX_REQUESTS_PER_MINUTE_PER_KEY,
      perAccount: v.MAX_REQUESTS_PER_MINUTE_PER_ACCOUNT,
      trial: v.MAX_REQUESTS_PER_MINUTE_TRIAL,
    },
    overloadLagMs: v.OVERLOAD_LAG_MS,
    maxRssBytes: v.MAX_RSS_MB === undefined ? null : v.MAX_RSS_MB * 1_048_576,
    probes: v.PROBES,
    simulator: {
      port: v.SIMULATOR_PORT,
      record: v.SIMULATOR_RECORD,
      raw: v.SIMULATOR_RAW === undefined ? v.NODE_ENV !== 'production' : v.SIMULATOR_RAW === '1',
      tokensPerSecond: v.SIMULATOR_TOKENS_PER_SECOND ?? null,
      firstTokenMs: v.SIMULATOR_FIRST_TOKEN_MS ?? null,
    },
    metricsToken: v.METRICS_TOKEN ?? null,
    telemetry: telemetryOf(v),
    mail: { smtpUrl: v.SMTP_URL ?? null, from: v.MAIL_FROM },
    bank: bankOf(v),
    orderLimits: {
      lifetimeMs: v.ORDER_VALID_DAYS * 86_400_000,
      open: v.MAX_OPEN_ORDERS,
      unpaidAnHour: v.MAX_UNPAID_ORDERS_AN_HOUR,
    },
    bankProviders: {
      sepay: { secret: v.SEPAY_WEBHOOK_SECRET ?? '', scheme: v.SEPAY_WEBHOOK_AUTH },
      casso: { secret: v.CASSO_WEBHOOK_SECRET ?? '' },
      payos: { secret: v.PAYOS_CHECKSUM_KEY ?? '' },
      listing: v.SEPAY_API_TOKEN === undefined ? null : { token: v.SEPAY_API_TOKEN, baseUrl: v.SEPAY_API_URL },
    },
    signIn: signInOf(v),
    retention: {
      sessionDays: v.RETAIN_SESSIONS_DAYS,
      auditDays: v.RETAIN_AUDIT_DAYS,
      attributionDays: v.RETAIN_ATTRIBUTION_DAYS,
    },
    ledgerArchive: { keepMonths: v.LEDGER_KEEP_MONTHS ?? null, directory: v.LEDGER_ARCHIVE_DIR ?? null },
    einvoice: einvoiceOf(v),
    overlay: {
      isGiven: (name) => Object.hasOwn(given, name),
      given: (name) => (Object.hasOwn(given, name) ? (given[name] ?? '') : ''),
      read: (values) => readOverlay({ ...values, ...given }),
    },
    vendorKey: (variable) => (Object.hasOwn(given, variable) ? given[variable] : undefined),
  };
}

/** `given` has the contents of files already, so none is read again. */
function readOverlay(given: Readonly<Record<string, string>>): ReturnType<ConfigOverlay['read']> {
  const plain = Object.entries(given).filter(([name]) => !name.endsWith('_FILE') || name === 'CATALOG_FILE');
  try {
    return { config: loadConfig(Object.fromEntries(plain)) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      problems: error.problems.map((line) => {
        const [, name = null, message = line] = /^([A-Z][A-Z0-9_]*): (.*)$/s.exec(line) ?? [];
        return { name, message };
      }),
    };
  }
}
