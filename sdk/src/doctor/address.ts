import type { Fetch } from '../options.ts';
import { error, type Finding, ok, warning } from './finding.ts';

/** Is the address of the right form, and does the service answer there? */

export interface AddressFindings {
  findings: Finding[];
  /** The address to go on with, put right where that is possible; null when nothing answers. */
  baseUrl: string | null;
}

/** The address as text: what can be said without asking anybody. */
export function checkAddress(given: string): AddressFindings {
  const example = 'Use the address that the console shows, e.g. https://steyg.example/api';
  if (!URL.canParse(given) || !/^https?:/i.test(given)) {
    return { findings: [error('address', `${JSON.stringify(given)} is no http(s) address.`, example)], baseUrl: null };
  }
  const url = new URL(given);
  const findings: Finding[] = [];
  if (`${url.search}${url.hash}${url.username}${url.password}` !== '') {
    findings.push(error('address', 'The address has a query, a fragment or credentials in it.', example));
  }
  let path = url.pathname.replace(/\/+$/, '');
  const tail = /\/v1(\/(messages|chat\/completions|responses|models))?$/.exec(path);
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
  return { findings: findings.length === 0 ? [ok('address', baseUrl)] : findings, baseUrl };
}

const isLoopback = (hostname: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

export interface Probe {
  findings: Finding[];
  baseUrl: string | null;
  /** How far the server's clock is ahead of this machine's; null when it did not say. */
  skewMs: number | null;
}

/**
 * Asks for the models without a key: the service refuses that with 401 in JSON, and nothing else answers that way. If it
 * does not, `/api` may have been forgotten.
 */
export async function probe(baseUrl: string, { fetch, now }: { fetch: Fetch; now: () => number }): Promise<Probe> {
  const answer = await look(`${baseUrl}/v1/models`, { fetch, now });
  if (answer.kind === 'service') {
    return {
      findings: [ok('reachability', `The service answers within ${answer.tookMs} ms.`)],
      baseUrl,
      skewMs: answer.skewMs,
    };
  }
  if (answer.kind !== 'unreachable' && !baseUrl.endsWith('/api')) {
    const corrected = `${baseUrl}/api`;
    const second = await look(`${corrected}/v1/models`, { fetch, now });
    if (second.kind === 'service') {
      const finding = error(
        'address',
        'The service answers, but at another path.',
        `Use ${corrected} as the base address.`,
      );
      return { findings: [finding], baseUrl: corrected, skewMs: second.skewMs };
    }
  }
  return { findings: [explain(answer)], baseUrl: null, skewMs: null };
}

type Look =
  | { kind: 'service'; tookMs: number; skewMs: number | null }
  | { kind: 'unreachable'; reason: string }
  | { kind: 'redirect'; to: string }
  | { kind: 'failing'; status: number }
  | { kind: 'foreign'; status: number };

async function look(url: string, { fetch, now }: { fetch: Fetch; now: () => number }): Promise<Look> {
  const startedAt = now();
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { redirect: 'manual', headers: { accept: 'application/json' } });
    text = await response.text();
  } catch (cause) {
    return { kind: 'unreachable', reason: reasonOf(cause) };
  }
  const { status } = response;
  if (status === 0 || (status >= 300 && status < 400)) {
    return { kind: 'redirect', to: response.headers.get('location') ?? 'another address' };
  }
  if (status >= 500) return { kind: 'failing', status };
  if ((status !== 401 && status !== 200) || !isOurs(text)) return { kind: 'foreign', status };
  const date = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds, and the answer took its time.
  const skewMs = Number.isNaN(date) ? null : date + 500 - (startedAt + now()) / 2;
  return { kind: 'service', tookMs: Math.round(now() - startedAt), skewMs };
}

/** The service's refusal, or its list: JSON with one of these members. */
function isOurs(text: string): boolean {
  try {
    const body = JSON.parse(text) as { error?: unknown; data?: unknown } | null;
    return typeof body?.error === 'object' || Array.isArray(body?.data);
  } catch {
    return false;
  }
}

function explain(answer: Exclude<Look, { kind: 'service' }>): Finding {
  switch (answer.kind) {
    case 'unreachable':
      return error(
        'reachability',
        `The address cannot be reached: ${answer.reason}`,
        'Check host name, port, proxy and firewall; then whether the service runs.',
      );
    case 'redirect':
      return error(
        'reachability',
        `The address redirects to ${answer.to}.`,
        'Configure the address it redirects to: clients do not carry a key or a prompt along.',
      );
    case 'failing':
      return error(
        'reachability',
        `The server answers with status ${answer.status}.`,
        'See the status page of the service.',
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

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  if (!(inner instanceof Error)) return String(inner);
  return inner.message || (inner as { code?: string }).code || inner.name;
}

/** Clocks that differ much break certificates and dates, and make expiry look wrong. */
export function checkClock(skewMs: number | null): Finding {
  if (skewMs === null) return ok('clock', 'The server does not tell its time.');
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  if (seconds <= 60) return ok('clock', 'The clock agrees with the server’s.');
  return warning(
    'clock',
    `The clock of this machine is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} the server’s.`,
    'Let the system set its clock from the network.',
  );
}
