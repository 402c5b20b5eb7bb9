import { everyProtocol, type ProtocolCase, protocols, settled } from '../gateway/support.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';

/** What the operator's vendors know and no customer may ever see. */
export const vendorSecret = 'vendor-secret-of-the-operator-7f3a';
export const vendorModel = 'vendor-name-of-the-model-2026';

export interface UpstreamLine {
  id: string;
  protocol: ProtocolCase['protocol'];
  /** Without `/v1`, whatever the protocol. */
  url: string;
  apiKey?: string;
  onDisconnect?: 'abort' | 'drain';
  features?: Record<string, unknown>;
}

export interface RouteLine {
  upstream: string;
  model?: string;
  priority?: number;
  weight?: number;
}

export interface ModelLine {
  id: string;
  routes: RouteLine[];
  prices?: { input: string; cacheHit: string; output: string };
  contextWindow?: number;
  maxOutputTokens?: number;
}

/** A catalog file of these upstreams and models. */
export function catalogFile({ upstreams, models }: { upstreams: UpstreamLine[]; models: ModelLine[] }): string {
  // JSON is YAML.
  return JSON.stringify({
    upstreams: upstreams.map(({ id, protocol, url, apiKey, onDisconnect, features }) => ({
      id,
      protocol,
      baseUrl: protocol === 'messages' ? url : `${url}/v1`,
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(onDisconnect === undefined ? {} : { onDisconnect }),
      features: {
        ...(protocol === 'messages' ? { effort: true } : { maxTokensField: 'max_completion_tokens' }),
        ...features,
      },
    })),
    models: models.map(({ id, routes, prices, contextWindow = 200_000, maxOutputTokens = 32_000 }) => ({
      id,
      displayName: id,
      family: 'tests',
      contextWindow,
      maxOutputTokens,
      prices: prices ?? { input: '1', cacheHit: '0.1', output: '5' },
      routes: routes.map(({ upstream, model = vendorModel, ...rest }) => ({ upstream, model, ...rest })),
    })),
  });
}

/** One model for each protocol that an upstream may speak, at one upstream each, so that a failed try has no other place. */
export function oneRouteEach(
  url: string,
  more: Pick<UpstreamLine, 'onDisconnect' | 'features'> = {},
): { upstreams: UpstreamLine[]; models: ModelLine[] } {
  return {
    upstreams: everyProtocol.map(({ protocol }) => ({
      id: `vendor-${protocol}`,
      protocol,
      url,
      apiKey: vendorSecret,
      ...more,
    })),
    models: everyProtocol.map(({ protocol }) => ({
      id: `on-${protocol}`,
      routes: [{ upstream: `vendor-${protocol}` }],
    })),
  };
}

/** A client's protocol, its upstream's, and whether the answer is streamed. */
export interface Direction {
  name: string;
  client: ProtocolCase;
  upstream: ProtocolCase['protocol'];
  model: string;
  stream: boolean;
}

export const directions: Direction[] = everyProtocol.flatMap((client) =>
  everyProtocol.flatMap(({ protocol: upstream }) =>
    [true, false].map((stream) => ({
      name: `${client.protocol} on ${upstream}${stream ? ', streamed' : ''}`,
      client,
      upstream,
      model: `on-${upstream}`,
      stream,
    })),
  ),
);

export interface AskResult {
  status: number;
  headers: Headers;
  text: string;
  /** The error object of the envelope or of the stream's error event; null where there is none. */
  error: { type: string; message: string; code?: string | null } | null;
  row: Record<string, unknown>;
  rows: number;
  held: bigint;
  customer: Customer;
  /** What arrived at the simulator for this request. */
  upstreamCalls: number;
}

let asked = 0;

/** One request of a new customer, followed until everything of it is settled. */
export async function ask(
  app: TestApp,
  direction: Pick<Direction, 'client' | 'model' | 'stream'>,
  text: string,
  { usd = '100', more = {} }: { usd?: string; more?: Record<string, unknown> } = {},
): Promise<AskResult> {
  const customer = await app.customer({ usd });
  asked += 1;
  const mark = `mark-${asked}-of-this-request`;
  const response = await post(app, customer.secret, direction, `${mark} ${text}`, more);
  const body = await response.text();
  const rows = await settled(app, customer);
  const { rows: balances } = await app.pool.query(
    'SELECT coalesce(sum(held), 0)::bigint AS held FROM "grant" WHERE account_id = $1',
    [customer.accountId],
  );
  return {
    status: response.status,
    headers: response.headers,
    text: body,
    error: errorIn(body),
    row: rows[0] ?? {},
    rows: rows.length,
    held: balances[0].held,
    customer,
    upstreamCalls: app.simulator.requests().filter(({ body: sent }) => sent.includes(mark)).length,
  };
}

export function post(
  app: Pick<TestApp, 'baseUrl'>,
  secret: string,
  { client, model, stream }: Pick<Direction, 'client' | 'model' | 'stream'>,
  text: string,
  more: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(app.baseUrl + client.path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...client.headers },
    body: JSON.stringify(client.body(text, { model, ...(stream ? { stream: true } : {}), ...more })),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Asks again while the server can promise nothing for a moment, which happens on a machine that is late. */
export async function postPatiently(...given: Parameters<typeof post>): Promise<Response> {
  for (;;) {
    const response = await post(...given);
    if (response.status !== 503) return response;
    await response.text();
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

/** The error object of a body or of a stream's last event, wherever the protocol puts it. */
export function errorIn(text: string): AskResult['error'] {
  const candidates = text.startsWith('{')
    ? [text]
    : text
        .split('\n')
        .filter((line) => line.startsWith('data:') && line.includes('rror'))
        .map((line) => line.slice(5));
  for (const candidate of candidates.reverse()) {
    try {
      const value = JSON.parse(candidate);
      if (value.error != null) return value.error;
      if (value.response?.error != null) return { type: value.type, ...value.response.error };
      if (value.type === 'error') return value;
    } catch {
      // Half an event, or text that only looks like one.
    }
  }
  return null;
}

/** Whatever names the operator's account, key or machine at a vendor. */
const identities = [
  vendorSecret,
  vendorModel,
  'anthropic-organization',
  'anthropic-ratelimit',
  'x-ratelimit',
  'openai-organization',
  'openai-processing',
  'org-51mu1at0r0acc0unt',
  'set-cookie',
  '__cf_bm',
];

/** What of the upstream's identity got through. */
export function leaks(app: TestApp, { headers, text }: Pick<AskResult, 'headers' | 'text'>): string[] {
  const seen = `${[...headers].map(([name, value]) => `${name}: ${value}`).join('\n')}\n${text}`;
  return [...identities, `:${app.simulator.port}`].filter((identity) => seen.includes(identity));
}

/** The value of a counter, summed over the labels that are not named. */
export async function counter(app: TestApp, name: string, labels: Record<string, string> = {}): Promise<number> {
  const metric = await app.app.metrics.registry.getSingleMetric(name)?.get();
  return (metric?.values ?? [])
    .filter(({ labels: own }) => Object.entries(labels).every(([key, value]) => own[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

export { protocols, startApp, type TestApp };
