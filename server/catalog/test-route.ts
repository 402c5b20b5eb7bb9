import { isIP } from 'node:net';
import type { Pool } from 'pg';
import { Agent, type Dispatcher, request } from 'undici';
import type { ModelKind } from '../core/kind.ts';
import {
  credentialHeaders,
  embeddingsPath,
  imagePaths,
  messagesVersion,
  type Protocol,
  upstreamPaths,
} from '../core/protocol.ts';
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
  /** Reads JSON with a key that is stored nowhere. `body` is undefined where no JSON came. */
  read(ask: KeyTest): Promise<RouteTest & { body: unknown }>;
  /** The smallest request to a model with a key that is stored nowhere. */
  testModel(ask: ModelTest): Promise<RouteTest>;
  close(): Promise<void>;
}

export interface KeyTest {
  protocol: Protocol;
  baseUrl: string;
  /** Below the address; only a valid key may read it. */
  path: string;
  /** Null: none is sent. */
  secret: string | null;
}

interface Question {
  upstreamModel: string;
  kind: ModelKind;
  protocol: Protocol;
  profile: string | null;
  features: unknown;
}

export interface ModelTest extends Question {
  baseUrl: string;
  secret: string | null;
}

interface RouteRow extends Question {
  baseUrl: string;
  keyId: string | null;
  sealed: Buffer | null;
}

const timeoutMs = 20_000;
/** An image takes longer than a word. */
const imageTimeoutMs = 120_000;
const timeoutOf = ({ kind }: Pick<Question, 'kind'>): number => (kind === 'image' ? imageTimeoutMs : timeoutMs);
const maxAnswerBytes = 1_048_576;
/** OpenRouter's list of some hundred models has about a megabyte. */
const maxListBytes = 8 * 1_048_576;

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

  const isRefused = (baseUrl: string) => !allowPrivate && isRefusedLiteral(baseUrl);
  const reading = ({ protocol, baseUrl, path, secret }: KeyTest): Sending => ({
    url: `${baseUrl}${path}`,
    protocol,
    body: null,
    secret,
    dispatcher: guarded,
    timeoutMs: options.timeoutMs ?? timeoutMs,
  });

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
      if (!simulated && isRefused(baseUrl)) return refused('The address is not allowed.');
      return judged({
        url: `${baseUrl}${pathOf(route)}`,
        protocol: route.protocol,
        body: JSON.stringify(question(route)),
        secret,
        dispatcher: simulated ? open : guarded,
        timeoutMs: options.timeoutMs ?? timeoutOf(route),
      });
    },
    async testKey(ask) {
      return isRefused(ask.baseUrl) ? refused('The address is not allowed.') : judged(reading(ask));
    },
    async read(ask) {
      if (isRefused(ask.baseUrl)) return { ...refused('The address is not allowed.'), body: undefined };
      const { text, ...result } = await send(reading(ask));
      return { ...result, body: parsed(text) };
    },
    async testModel(ask) {
      if (isRefused(ask.baseUrl)) return refused('The address is not allowed.');
      return judged({
        url: `${ask.baseUrl}${pathOf(ask)}`,
        protocol: ask.protocol,
        body: JSON.stringify(question(ask)),
        secret: ask.secret,
        dispatcher: guarded,
        timeoutMs: options.timeoutMs ?? timeoutOf(ask),
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

interface Sending {
  url: string;
  protocol: Protocol;
  /** Null: the address is only read. */
  body: string | null;
  secret: string | null;
  dispatcher: Dispatcher;
  timeoutMs: number;
}

function pathOf({ kind, protocol }: Question): string {
  if (kind === 'image') return imagePaths.generations;
  return kind === 'embedding' ? embeddingsPath : upstreamPaths[protocol];
}

/** What the status says, without the text. */
async function judged(options: Sending): Promise<RouteTest> {
  const { text: _text, ...result } = await send(options);
  return result;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of an answer up to a bound; the rest is left unread, and its JSON is none. */
async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxListBytes) break;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

async function send(options: Sending): Promise<RouteTest & { text: string }> {
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
    const ok = answer.statusCode === 200;
    let text = '';
    if (ok && body === null) text = await textOf(answer.body);
    else await answer.body.dump({ limit: maxAnswerBytes });
    const problem = ok ? null : sentence(answer.statusCode);
    return { ok, status: answer.statusCode, latencyMs: elapsed(), problem, text };
  } catch {
    // The error may contain the address that the name resolved to.
    return { ok: false, status: null, latencyMs: elapsed(), problem: 'The upstream did not answer.', text: '' };
  }
}

/** Room for a model that reasons first: with less, some vendors answer 400 before a word is said. */
const maxOutputTokens = 512;

function question({ kind, protocol, upstreamModel, profile, features }: Question): Record<string, unknown> {
  if (kind === 'embedding') return { model: upstreamModel, input: 'ping' };
  // The cheapest that these make; other vendors have other words.
  if (kind === 'image')
    return {
      model: upstreamModel,
      prompt: 'A dot.',
      ...(upstreamModel.includes('gpt-image') ? { quality: 'low' } : {}),
    };
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
