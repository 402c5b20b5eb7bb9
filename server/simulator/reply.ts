/** Replies of the simulator: headers, error envelopes, bodies. */

import { deliverWhole } from './delivery.ts';
import type { VendorDialect } from './dialects/dialect.ts';
import type { Directives } from './directives.ts';
import type { HttpExchange } from './exchange.ts';
import { stringify } from './json.ts';
import type { VendorError } from './prompt.ts';
import type { Random } from './random.ts';
import type { ReadBody } from './request-body.ts';
import type { SimulatedVendor } from './vendors/vendor.ts';

/** What an address of the vendor is for. `makes`: images. */
export interface PlayedRoute {
  protocol: VendorDialect['protocol'];
  countOnly: boolean;
  embeds?: true;
  makes?: 'generations' | 'edits';
}

/** One request that has arrived. */
export interface Arrival {
  exchange: HttpExchange;
  path: string;
  /** Null for an address that no protocol has. */
  route: PlayedRoute | null;
  /** The vendor that is played; null: the protocol's reference. */
  vendor: SimulatedVendor | null;
  read: Exclude<ReadBody, { kind: 'left' }>;
  /** Its place in the order of arrival; with the seed it decides everything random about it. */
  number: number;
  onStream: () => void;
  onEvent: () => void;
}

/** An arrival with what every answer to it needs. */
export interface PlayedCall extends Arrival {
  dialect: VendorDialect;
  random: Random;
  requestId: string;
  credential: string;
}

/** How long a client that was answered early may go on sending before the connection is dropped. */
const LINGER_MS = 2_000;

const RETRYABLE = new Set([408, 409, 429]);

/** The headers of a vendor's response, including those of the account. */
export function vendorHeaders(call: PlayedCall, status: number, contentType: string): Map<string, string | string[]> {
  const { dialect, requestId, random } = call;
  const headers = new Map<string, string | string[]>([
    ['content-type', contentType],
    ...dialect.accountHeaders({ requestId, status }),
    ['set-cookie', [`__cf_bm=${random.id(43)}; path=/; HttpOnly; Secure`, `_cfuvid=${random.id(43)}; path=/; Secure`]],
    ['cf-ray', `${random.id(16)}-SIM`],
    ['strict-transport-security', 'max-age=31536000; includeSubDomains; preload'],
    ['x-simulator', '1'],
  ]);
  if (status >= 400) headers.set('x-should-retry', String(RETRYABLE.has(status) || status >= 500));
  if (status === 429 || status === 503 || status === 529) headers.set('retry-after', '2');
  if (status >= 300 && status < 400) headers.set('location', '/v1/elsewhere');
  return headers;
}

/** False when a scripted header is none that HTTP allows. */
export function setHeaders(
  call: PlayedCall,
  headers: Map<string, string | string[]>,
  extra: Directives['headers'] = [],
): boolean {
  try {
    for (const [name, value] of [...headers, ...extra]) call.exchange.response.setHeader(name, value);
    return true;
  } catch {
    return false;
  }
}

function failureBody(call: PlayedCall, failure: VendorError): Buffer {
  return Buffer.from(stringify(call.dialect.errorBody(failure, call.requestId)));
}

/** Answers with the vendor's error envelope. */
export async function fail(call: PlayedCall, failure: VendorError, extra: Directives['headers'] = []): Promise<void> {
  const { response } = call.exchange;
  const body = failureBody(call, failure);
  setHeaders(
    call,
    vendorHeaders(call, failure.status, 'application/json').set('content-length', String(body.length)),
    extra,
  );
  response.statusCode = failure.status;
  await deliverWhole({ exchange: call.exchange, body, fault: null });
}

/**
 * Answers while the request is still coming in. The rest of the body stays unread, as with a server that has decided
 * already; Node would drop the connection at once and lose the answer, hence the raw socket.
 */
export async function failEarly(call: PlayedCall, failure: VendorError): Promise<void> {
  const { exchange } = call;
  const body = failureBody(call, failure);
  const headers = vendorHeaders(call, failure.status, 'application/json')
    .set('content-length', String(body.length))
    .set('connection', 'close');
  const lines = [...headers].flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`));
  exchange.response.socket?.write(`HTTP/1.1 ${failure.status} Early\r\n${lines.join('')}\r\n`);
  exchange.response.socket?.write(body);
  await exchange.sleep(LINGER_MS);
  exchange.sever('close');
}

/** Sends a body that is no stream, with the script's breaks and headers. */
export function sendBody(call: PlayedCall, directives: Directives, body: Buffer): Promise<void> {
  const { response } = call.exchange;
  const scripted = directives.headers.some(([name]) => name === 'content-length' || name === 'transfer-encoding');
  // A body that ends early as if it were complete cannot announce a length.
  const open = directives.fault?.kind === 'cut' && directives.fault.how === 'end';
  if (!scripted && !open) response.setHeader('content-length', body.length);
  return deliverWhole({ exchange: call.exchange, body, fault: directives.fault });
}

/** The client's credential, from either of the two headers. */
export function credentialOf(call: Arrival): string {
  const { headers } = call.exchange.request;
  const bearer = /^bearer\s+(.*)$/i.exec(headers.authorization ?? '')?.[1];
  return bearer ?? String(headers['x-api-key'] ?? '');
}

/** The failure for a status: in the vendor's words, or in `message`, where `{key}` stands for the credential. */
export function wordingOf(call: PlayedCall, status: number, model: string, message: string | null): VendorError {
  const failure = call.dialect.wording(status, { model, credential: call.credential });
  return message === null ? failure : { ...failure, message: message.replaceAll('{key}', call.credential) };
}
