import { error, type Finding, passed, warning } from './finding.ts';

/** What client tools will find: the variables of the shell, and those that a settings file puts over them. */

type Variables = Record<string, string | undefined>;

/** The variables that must name a model, by what they are for. */
const modelVariables = [
  'ANTHROPIC_MODEL',
  'ANTHROPIC_DEFAULT_FABLE_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
];

/** Whether the catalog has a model: as it is written, without a leading `steyg/`, then in lower case. */
export function isInCatalog(id: string, catalog: readonly { id: string }[]): boolean {
  const ids = new Set(catalog.map((model) => model.id));
  const bare = id.replace(/^steyg\//, '');
  return [id, bare, id.toLowerCase(), bare.toLowerCase()].some((each) => ids.has(each));
}

/** Each model that a tool is going to request. */
export function checkModels(wanted: Record<string, string | undefined>, catalog: readonly { id: string }[]): Finding[] {
  const remedy = `Set it to one of: ${catalog.map(({ id }) => id).join(', ')}`;
  const findings = Object.entries(wanted).flatMap(([name, id]) => {
    if (id === undefined) return [];
    return isInCatalog(id, catalog)
      ? [passed('models', `${name}: ${id}`)]
      : [error('models', `${name} is ${id}, which the catalog does not have.`, remedy)];
  });
  return findings.length > 0
    ? findings
    : [passed('models', `The catalog has: ${catalog.map(({ id }) => id).join(', ')}`)];
}

export interface EnvironmentRequest {
  baseUrl: string;
  environment: Variables;
  /** The `env` block of a tool's settings file. */
  settings: Variables;
  catalog: readonly { id: string }[];
  /** The key that is examined. */
  apiKey: string;
  /** The messages client is signed in to its vendor's account. */
  signedIn: boolean;
}

export function checkEnvironment(request: EnvironmentRequest): Finding[] {
  const { baseUrl, environment, settings, catalog, apiKey, signedIn } = request;
  // A settings file wins over the shell, variable by variable.
  const effective: Variables = { ...environment, ...settings };
  const findings = [
    ...checkOverridden(environment, settings),
    ...checkMessagesClient(baseUrl, effective, catalog),
    ...checkSignedIn(baseUrl, effective, signedIn),
    ...checkChatClient(baseUrl, effective),
    ...checkOtherKeys(baseUrl, effective, apiKey),
  ];
  return findings.length > 0 ? findings : [passed('environment', 'No variable stands in the way.')];
}

function checkOverridden(environment: Variables, settings: Variables): Finding[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const shell = environment[name];
    if (shell === undefined || shell === value) return [];
    const remedy = 'Unset the variable in the shell, or make both the same.';
    return [warning('environment', `${name} differs: the settings file wins over the shell.`, remedy)];
  });
}

function checkMessagesClient(baseUrl: string, effective: Variables, catalog: readonly { id: string }[]): Finding[] {
  const findings: Finding[] = [];
  const { ANTHROPIC_BASE_URL: address, ANTHROPIC_AUTH_TOKEN: token, ANTHROPIC_API_KEY: vendorKey } = effective;
  if (token && vendorKey) {
    findings.push(
      warning(
        'environment',
        'ANTHROPIC_AUTH_TOKEN and ANTHROPIC_API_KEY are both set: two sources of credentials.',
        'Unset ANTHROPIC_API_KEY, and sign out of the vendor (/logout).',
      ),
    );
  }
  if (!address) return findings;
  const plain = address.replace(/\/+$/, '');
  if (plain === `${baseUrl}/v1`) {
    return [
      ...findings,
      error(
        'environment',
        'ANTHROPIC_BASE_URL ends in /v1.',
        `Set it to ${baseUrl}: such clients append /v1 themselves.`,
      ),
    ];
  }
  if (plain !== baseUrl) {
    return [...findings, warning('environment', `ANTHROPIC_BASE_URL points to ${plain}.`, `Set it to ${baseUrl}`)];
  }
  if (!token && !vendorKey) {
    findings.push(error('environment', 'ANTHROPIC_AUTH_TOKEN is not set.', 'Set it to the API key.'));
  }
  const ids = catalog.map(({ id }) => id).join(', ');
  for (const name of modelVariables) {
    const id = effective[name];
    if (!id) {
      findings.push(
        error(
          'environment',
          `${name} is not set: the client would ask for the vendor’s default model.`,
          `Set it to one of: ${ids}`,
        ),
      );
    } else if (!isInCatalog(id.replace(/\[1m\]$/, ''), catalog)) {
      findings.push(
        error('environment', `${name} is ${id}, which the catalog does not have.`, `Set it to one of: ${ids}`),
      );
    }
  }
  return findings;
}

function checkSignedIn(baseUrl: string, { ANTHROPIC_BASE_URL: address }: Variables, signedIn: boolean): Finding[] {
  if (!signedIn || address?.replace(/\/+$/, '') !== baseUrl) return [];
  const message = 'Claude Code is signed in to its vendor’s account as well: two sources of credentials.';
  return [warning('environment', message, 'Run /logout in it, so that only the key is used.')];
}

/** The examined key may differ from the one that a tool uses. */
function checkOtherKeys(baseUrl: string, effective: Variables, apiKey: string): Finding[] {
  const pairs = [
    ['ANTHROPIC_BASE_URL', baseUrl, 'ANTHROPIC_AUTH_TOKEN'],
    ['OPENAI_BASE_URL', `${baseUrl}/v1`, 'OPENAI_API_KEY'],
  ] as const;
  return pairs.flatMap(([address, expected, name]) => {
    const key = effective[name];
    if (effective[address]?.replace(/\/+$/, '') !== expected || !key || key === apiKey) return [];
    const message = `${name} is another key than the one that is examined here.`;
    return [warning('environment', message, 'Make both the same, or run this with that key.')];
  });
}

function checkChatClient(baseUrl: string, { OPENAI_BASE_URL: address, OPENAI_API_BASE: legacy }: Variables): Finding[] {
  if (address && address.replace(/\/+$/, '') === baseUrl) {
    return [error('environment', 'OPENAI_BASE_URL lacks /v1.', `Set it to ${baseUrl}/v1`)];
  }
  if (!address && legacy) {
    return [
      warning(
        'environment',
        'OPENAI_API_BASE is set, which current clients do not read.',
        `Set OPENAI_BASE_URL to ${baseUrl}/v1`,
      ),
    ];
  }
  return [];
}
