import type { Fetch } from '../options.ts';
import { error, type Finding, passed, warning } from './finding.ts';

/** Is the address of the right form, and does the service answer there? */

export interface AddressFindings {
  findings: Finding[];
  /** The address to go on with, put right where that is possible; null when nothing answers. */
  baseUrl: string | null;
}

/** The form of the address: the checks that need no network. */
export function checkAddress(given: string): AddressFindings {
  const example = 'Use the address that the console shows, e.g. https://steyg.example/api';
  if (!URL.canParse(given) || !/^https?:/i.test(given)) {
    return { findings: [error('address', `${JSON.stringify(given)} is no http(s) address.`, example)], baseUrl: null };
  }
  const url = new URL(given);
  const findings: Finding[] = [];
  if (`${url.search}${url.hash}${url.username}${url.password}` !== '' || !/^[\w.:/%[\]~-]+$/.test(given.trim())) {
    findings.push(
      error('address', 'The address has a query, a fragment, credentials or odd characters in it.', example),
    );
  }
  let path = url.pathname.replace(/\/+$/, '');
  const tail = /(\/v1)+(\/(messages|chat\/completions|responses|models))?$/.exec(path);
  if (tail !== null) {
    path = path.slice(0, tail.index);
    findings.push(
      error(
        'address',
        `The address ends in ${tail[0]}.`,
        `Use ${url.origin}${path} as the base address. Only clients of the chat completions protocol take it with /v1.`,
      ),
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    findings.push(
      warning('address', 'The address is http: the key travels unencrypted.', `Use https://${url.host}${path}`),
    );
  }
  const baseUrl = `${url.origin}${path}`;
  return { findings: findings.length === 0 ? [passed('address', baseUrl)] : findings, baseUrl };
}

const isLoopback = (hostname: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

export interface Probe {
  findings: Finding[];
  baseUrl: string | null;
  /** How far the server's clock is ahead of this machine's; null when it did not say. */
  skewMs: number | null;
}

interface Surroundings {
  fetch: Fetch;
  now: () => number;
  /** Environment variables of the process. */
  environment: Record<string, string | undefined>;
}

/**
 * Asks for the models without a key: the service refuses that with 401 in JSON, and nothing else answers that way. If it
 * does not, `/api` may have been forgotten, or the address of a page been taken.
 */
export async function probeAddress(baseUrl: string, around: Surroundings): Promise<Probe> {
  const answer = await look(`${baseUrl}/v1/models`, around);
  if (answer.kind === 'service') {
    const message = `The service answers within ${answer.tookMs} ms.`;
    const finding = answer.certain ? passed('reachability', message) : warning('reachability', ...doubt);
    return { findings: [finding], baseUrl, skewMs: answer.skewMs };
  }
  if (answer.kind === 'foreign' || answer.kind === 'page') {
    const candidates = new Set([`${baseUrl}/api`, `${new URL(baseUrl).origin}/api`]);
    candidates.delete(baseUrl);
    for (const candidate of candidates) {
      const other = await look(`${candidate}/v1/models`, around);
      if (other.kind !== 'service' || !other.certain) continue;
      const remedy = `Use ${candidate} as the base address.`;
      const finding = error('address', 'The service answers, but at another path.', remedy);
      return { findings: [finding], baseUrl: candidate, skewMs: other.skewMs };
    }
  }
  return { findings: [explain(answer, baseUrl, around.environment)], baseUrl: null, skewMs: null };
}

const doubt = [
  'Something answers there that speaks the same protocols, but not in the way of this service.',
  'Compare the address with the one that the console shows: it may be another provider’s, or something in between takes headers off.',
] as const;

type Look =
  | { kind: 'service'; certain: boolean; tookMs: number; skewMs: number | null }
  | { kind: 'unreachable'; code: string; reason: string }
  | { kind: 'redirect'; to: string | null }
  | { kind: 'failing'; status: number }
  | { kind: 'page'; status: number }
  | { kind: 'foreign'; status: number };

async function look(url: string, { fetch, now }: Surroundings): Promise<Look> {
  const startedAt = now();
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { redirect: 'manual', headers: { accept: 'application/json' } });
    text = await response.text();
  } catch (cause) {
    return { kind: 'unreachable', code: codeOf(cause), reason: reasonOf(cause) };
  }
  const { status, headers } = response;
  if (status === 0 || (status >= 300 && status < 400)) return { kind: 'redirect', to: headers.get('location') };
  if (status >= 500) return { kind: 'failing', status };
  if ((status !== 401 && status !== 200) || !isOurs(text)) {
    return { kind: /^\s*</.test(text) ? 'page' : 'foreign', status };
  }
  const date = Date.parse(headers.get('date') ?? '');
  // The header has whole seconds, and the answer took its time.
  const skewMs = Number.isNaN(date) ? null : date + 500 - (startedAt + now()) / 2;
  // The models need a key, and every answer carries its id under both names.
  const certain = status === 401 && headers.has('request-id') && headers.has('x-request-id');
  return { kind: 'service', certain, tookMs: Math.round(now() - startedAt), skewMs };
}

/** The service's refusal, or a list: JSON with one of these members. */
function isOurs(text: string): boolean {
  try {
    const body = JSON.parse(text) as { error?: unknown; data?: unknown } | null;
    return (typeof body?.error === 'object' && body.error !== null) || Array.isArray(body?.data);
  } catch {
    return false;
  }
}

function explain(
  answer: Exclude<Look, { kind: 'service' }>,
  baseUrl: string,
  environment: Surroundings['environment'],
): Finding {
  switch (answer.kind) {
    case 'unreachable':
      return explainUnreachable(answer, baseUrl, environment);
    case 'redirect':
      return explainRedirect(answer.to, baseUrl);
    case 'failing':
      return error(
        'reachability',
        `The server answers with status ${answer.status}.`,
        'See the status page of the service.',
      );
    case 'page':
      return error(
        'reachability',
        `A web page answers there in place of the service (status ${answer.status}).`,
        'If the network wants you to sign in first, open a page in a browser. Else compare the address with the one that the console shows, whose path ends in /api.',
      );
    case 'foreign':
      return error(
        'reachability',
        `Something else answers there (status ${answer.status}).`,
        'The base address is the one whose path ends in /api; a proxy in between may answer in its place.',
      );
    default:
      return answer satisfies never;
  }
}

function explainRedirect(to: string | null, baseUrl: string): Finding {
  const from = new URL(baseUrl);
  const target = to !== null && URL.canParse(to, baseUrl) ? new URL(to, baseUrl) : null;
  const message = `The address redirects to ${target === null ? 'another address' : target.href}.`;
  if (target?.protocol === 'https:' && from.protocol === 'http:' && target.hostname === from.hostname) {
    const secure = `https://${target.host}${from.pathname}`;
    return error(
      'reachability',
      message,
      `Use ${secure} as the base address: clients do not carry a key or a prompt along.`,
    );
  }
  return error(
    'reachability',
    message,
    'Configure the address it redirects to: clients do not carry a key or a prompt along. If that is a sign-in of the network, sign in first.',
  );
}

interface Cause {
  /** The situation, followed by the system's own message. */
  message: string;
  remedy: string;
}

const unknownName: Cause = {
  message: 'Its host name is not known here.',
  remedy: 'Look for a typing error in the host name; then whether this machine has a network and its DNS works.',
};
const untrusted: Cause = {
  message: 'Its certificate is not trusted here.',
  remedy:
    'If something in between opens TLS (a company’s proxy), give Node its certificate: NODE_EXTRA_CA_CERTS=/path/to/ca.pem. If the service is your own, give it a certificate that clients trust.',
};
const outOfTime: Cause = {
  message: 'Its certificate is not valid at this time.',
  remedy: 'Look at the clock of this machine first; if it is right, the certificate has to be renewed.',
};
const noTls: Cause = {
  message: 'What answers there does not speak TLS.',
  remedy: 'Is it http:// instead of https://, or another port?',
};

/** What the usual codes of Node mean. Other runtimes have other ones, and their own words then have to do. */
const causes: Record<string, Cause> = {
  ENOTFOUND: unknownName,
  EAI_AGAIN: unknownName,
  ECONNREFUSED: {
    message: 'Nothing listens there.',
    remedy: 'Check the port, and whether the service runs.',
  },
  CERT_HAS_EXPIRED: outOfTime,
  CERT_NOT_YET_VALID: outOfTime,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: {
    message: 'Its certificate is for another host name.',
    remedy: 'Use the host name that the certificate is for: the one that the console shows.',
  },
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  EPROTO: noTls,
  TimeoutError: {
    message: 'It did not answer in time.',
    remedy: 'A firewall may drop what is sent there, or a proxy have to be used.',
  },
};
const otherwise: Cause = {
  message: '',
  remedy: 'Check host name, port, proxy and firewall; then whether the service runs.',
};

function explainUnreachable(
  { code, reason }: { code: string; reason: string },
  baseUrl: string,
  environment: Surroundings['environment'],
): Finding {
  const { message, remedy } = causes[code] ?? otherwise;
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].find(
    (name) => environment[name],
  );
  const advice =
    proxy === undefined || environment['NODE_USE_ENV_PROXY'] === '1' || isLoopback(new URL(baseUrl).hostname)
      ? ''
      : ` ${proxy} is set, which Node does not use by default: set NODE_USE_ENV_PROXY=1 too.`;
  return error(
    'reachability',
    `The address cannot be reached. ${message === '' ? reason : `${message} (${reason})`}`,
    remedy + advice,
  );
}

/** `fetch` says only that it failed; the system's code is in the cause. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const inner = error.cause instanceof Error ? error.cause : error;
  const { code } = inner as { code?: unknown };
  return typeof code === 'string' ? code : inner.name;
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  if (!(inner instanceof Error)) return String(inner);
  return (inner.message || (inner as { code?: string }).code || inner.name).trim();
}

/** Clocks that differ much break certificates and dates, and make expiry look wrong. */
export function checkClock(skewMs: number | null): Finding {
  if (skewMs === null) return passed('clock', 'The server does not tell its time.');
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  if (seconds <= 60) return passed('clock', 'The clock agrees with the server’s.');
  return warning(
    'clock',
    `The clock of this machine is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} the server’s.`,
    'Let the system set its clock from the network.',
  );
}
