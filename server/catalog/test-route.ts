import { isIP } from 'node:net';
import type { Pool } from 'pg';
import { Agent, type Dispatcher, request } from 'undici';
import type { ModelKind } from '../core/kind.ts';
import { credentialHeaders, embeddingsPath, messagesVersion, type Protocol, upstreamPaths } from '../core/protocol.ts';
import { isPrivateAddress, publicLookup } from '../shared/private-addresses.ts';
import type { Seal } from '../shared/seal.ts';
import { featuresOf } from './features.ts';
import { sealContextOf, simulatorAddress, simulatorBase } from './upstreams.ts';

/**
 * Tests one route with the smallest request, whether or not it is switched on, without the gateway and its budget: the
 * operator pays for it. The answer is judged by its status; its text is neither kept nor shown, because an upstream's
 * error may quote the key.
 */
export interface RouteTest {
  ok: boolean;
  /** Status of the upstream's answer; null without one. */
  status: number | null;
  latencyMs: number;
  /** One sentence; null on success. */
  problem: string | null;
}

export interface RouteTester {
  /** Null: no such route. */
  test(routeId: string): Promise<RouteTest | null>;
  /** Tries a key that is stored nowhere, with a question that costs nothing. */
  testKey(ask: KeyTest): Promise<RouteTest>;
  close(): Promise<void>;
}

export interface KeyTest {
  protocol: Protocol;
  baseUrl: string;
  /** Below the address; only a valid key may read it. */
  path: string;
  secret: string;
}

interface RouteRow {
  upstreamModel: string;
  kind: ModelKind;
  protocol: Protocol;
  baseUrl: string;
  profile: string | null;
  features: unknown;
  keyId: string | null;
  sealed: Buffer | null;
}

const timeoutMs = 20_000;
const maxAnswerBytes = 1_048_576;

export function createRouteTester(options: {
  pool: Pool;
  seal: Seal;
  simulatorUrl: string | null;
  allowPrivate: boolean;
  timeoutMs?: number;
}): RouteTester {
  const { pool, seal, simulatorUrl, allowPrivate } = options;
  const open = new Agent({ connect: { timeout: 5_000 } });
  const guarded = allowPrivate ? open : new Agent({ connect: { timeout: 5_000, lookup: publicLookup } });

  return {
    async test(routeId) {
      const { rows } = await pool.query<RouteRow>(
        `SELECT r.upstream_model AS "upstreamModel", m.kind, u.protocol, u.base_url AS "baseUrl", u.profile, u.features,
                k.id AS "keyId", k.sealed
           FROM route r JOIN upstream u ON u.id = r.upstream_id JOIN model m ON m.id = r.model_id
           LEFT JOIN LATERAL (SELECT id, sealed FROM upstream_key WHERE upstream_id = u.id AND enabled
                              ORDER BY created_at, id LIMIT 1) k ON true
          WHERE r.id = $1`,
        [routeId],
      );
      const [route] = rows;
      if (route === undefined) return null;
      const simulated = route.baseUrl === simulatorAddress;
      const baseUrl = simulated ? simulatorBase(route, simulatorUrl) : route.baseUrl;
      if (baseUrl === null) return refused('The simulator does not run.');
      const secret =
        route.keyId === null || route.sealed === null ? null : seal.unseal(sealContextOf(route.keyId), route.sealed);
      if (route.keyId !== null && secret === null) return refused('The key was sealed with another SECRET_KEY.');
      if (!simulated && !allowPrivate && isRefusedLiteral(baseUrl)) return refused('The address is not allowed.');
      return send({
        url: `${baseUrl}${route.kind === 'embedding' ? embeddingsPath : upstreamPaths[route.protocol]}`,
        protocol: route.protocol,
        body: JSON.stringify(question(route)),
        secret,
        dispatcher: simulated ? open : guarded,
        timeoutMs: options.timeoutMs ?? timeoutMs,
      });
    },
    async testKey({ protocol, baseUrl, path, secret }) {
      if (!allowPrivate && isRefusedLiteral(baseUrl)) return refused('The address is not allowed.');
      return send({
        url: `${baseUrl}${path}`,
        protocol,
        body: null,
        secret,
        dispatcher: guarded,
        timeoutMs: options.timeoutMs ?? timeoutMs,
      });
    },
    async close() {
      await Promise.all([open.close(), guarded === open ? undefined : guarded.close()]);
    },
  };
}

/** A literal address needs no lookup, so the guarded agent would not check it. */
function isRefusedLiteral(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && isPrivateAddress(host);
}

function refused(problem: string): RouteTest {
  return { ok: false, status: null, latencyMs: 0, problem };
}

async function send(options: {
  url: string;
  protocol: Protocol;
  /** Null: the address is only read. */
  body: string | null;
  secret: string | null;
  dispatcher: Dispatcher;
  timeoutMs: number;
}): Promise<RouteTest> {
  const { url, protocol, body, secret, dispatcher } = options;
  const start = performance.now();
  const elapsed = () => Math.round(performance.now() - start);
  try {
    const answer = await request(url, {
      dispatcher,
      method: body === null ? 'GET' : 'POST',
      headers: {
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        'accept-encoding': 'identity',
        ...(protocol === 'messages' ? { 'anthropic-version': messagesVersion } : {}),
        ...credentialHeaders(protocol, secret),
      },
      body,
      signal: AbortSignal.timeout(options.timeoutMs),
    });
    await answer.body.dump({ limit: maxAnswerBytes });
    const ok = answer.statusCode === 200;
    return { ok, status: answer.statusCode, latencyMs: elapsed(), problem: ok ? null : sentence(answer.statusCode) };
  } catch {
    // The error may contain the address that the name resolved to.
    return { ok: false, status: null, latencyMs: elapsed(), problem: 'The upstream did not answer.' };
  }
}

/** Room for a model that reasons first: with less, some vendors answer 400 before a word is said. */
const maxOutputTokens = 512;

function question({ kind, protocol, upstreamModel, profile, features }: RouteRow): Record<string, unknown> {
  if (kind === 'embedding') return { model: upstreamModel, input: 'ping' };
  const text = 'Reply with the single word: pong';
  if (protocol === 'responses') return { model: upstreamModel, input: text, max_output_tokens: maxOutputTokens };
  const { maxTokensField } = featuresOf(protocol, profile, features);
  const limit = protocol === 'messages' ? 'max_tokens' : (maxTokensField ?? 'max_tokens');
  return { model: upstreamModel, [limit]: maxOutputTokens, messages: [{ role: 'user', content: text }] };
}

function sentence(status: number): string {
  if (status === 401 || status === 403) return 'The upstream refused the key.';
  if (status === 402) return 'The upstream wants to be paid.';
  if (status === 404) return 'The upstream does not know the address or the model.';
  if (status === 429) return 'The upstream says that it is asked too often.';
  if (status >= 300 && status < 400) return 'The upstream sends elsewhere, which is never followed.';
  return status >= 500 ? 'The upstream failed.' : 'The upstream refused the request.';
}
