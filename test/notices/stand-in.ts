/**
 * The documented HTTP interfaces of Telegram, Slack, Discord and Zalo, played on loopback: what is not as documented is
 * refused as they would refuse it, and what they limit is limited.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  service: string;
  /** Whom it was for. */
  target: string;
  text: string;
}

export interface StandIn {
  url: string;
  received: Received[];
  /** What was refused, and why: a test that sends what is documented has none. */
  violations: string[];
  /** The next answers, before those of the interface: a status with `retry-after`, or none at all. */
  next: (
    | { status: number; retryAfterS?: number; body?: object }
    /** The message is taken and never answered. */
    | 'silence'
    /** The message is taken and the connection cut. */
    | 'cut'
  )[];
  /** Tokens that are valid now. */
  zalo: { access: string; refresh: string };
  close(): Promise<void>;
}

export const botToken = '123456789:AAExampleTokenOfABotThatIsPlayed_0000';
export const zaloApp = { id: '1234567890', secret: 'zaloAppSecret0001' };

export async function createStandIn(): Promise<StandIn> {
  const zalo = { access: 'first-access', refresh: 'first-refresh-token-of-zalo' };
  const standIn: Pick<StandIn, 'received' | 'violations' | 'next' | 'zalo'> = {
    received: [],
    violations: [],
    next: [],
    zalo,
  };
  const server = createServer((request, response) => {
    void serve(standIn, request, response).catch((error: unknown) => {
      standIn.violations.push(String(error));
      response.writeHead(400).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...standIn,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Playing = Pick<StandIn, 'received' | 'violations' | 'next' | 'zalo'>;

async function serve(standIn: Playing, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const url = new URL(request.url ?? '', 'http://stand.in');
  check(request.method === 'POST', 'only POST');
  const answer = (status: number, body: object | string, headers: Record<string, string> = {}) => {
    const isText = typeof body === 'string';
    response
      .writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
      .end(isText ? body : JSON.stringify(body));
  };
  if (url.pathname === '/v4/oa/access_token') return renew(standIn, request, text, answer);
  check(request.headers['content-type']?.startsWith('application/json') === true, 'only JSON');
  const message = readMessage(standIn, request, url, JSON.parse(text) as Record<string, unknown>);
  const scripted = standIn.next.shift();
  if (scripted === 'silence' || scripted === 'cut') {
    standIn.received.push(message.received);
    if (scripted === 'cut') request.socket.destroy();
    return;
  }
  if (scripted !== undefined) {
    const headers: Record<string, string> =
      scripted.retryAfterS === undefined ? {} : { 'retry-after': String(scripted.retryAfterS) };
    answer(scripted.status, scripted.body ?? message.limited(scripted.retryAfterS), headers);
    return;
  }
  if (message.refusal !== undefined) return answer(200, message.refusal);
  standIn.received.push(message.received);
  answer(200, message.accepted);
}

interface Read {
  received: Received;
  accepted: object | string;
  /** The body of the limit's answer. */
  limited: (retryAfterS: number | undefined) => object | string;
  refusal?: object;
}

function readMessage(standIn: Playing, request: IncomingMessage, url: URL, body: Record<string, unknown>): Read {
  const path = url.pathname;
  if (path.startsWith('/bot')) {
    check(path === `/bot${botToken}/sendMessage`, 'the path holds the token and the method');
    const { chat_id: chat, text } = body;
    check(typeof chat === 'string' && isText(text, 4_096), 'chat_id, and text of 1 to 4096 characters');
    return {
      received: { service: 'telegram', target: chat, text: String(text) },
      accepted: { ok: true, result: { message_id: 1 } },
      limited: (s) => ({
        ok: false,
        error_code: 429,
        description: 'Too Many Requests',
        parameters: { retry_after: s },
      }),
    };
  }
  if (path.startsWith('/services/')) {
    check(/^\/services\/T\w+\/B\w+\/\w+$/.test(path), 'the path of an incoming webhook');
    check(isText(body['text'], 40_000) && !/<|&(?!amp;|lt;|gt;)/.test(String(body['text'])), 'escaped text');
    return {
      received: { service: 'slack', target: path, text: String(body['text']) },
      accepted: 'ok',
      limited: () => 'rate_limited',
    };
  }
  if (path.startsWith('/api/webhooks/')) {
    check(/^\/api\/webhooks\/\d+\/[\w-]+$/.test(path) && url.searchParams.get('wait') === 'true', 'the path with wait');
    check(isText(body['content'], 2_000), 'content of 1 to 2000 characters');
    return {
      received: { service: 'discord', target: path, text: String(body['content']) },
      accepted: { id: '1', content: body['content'] },
      limited: (s) => ({ message: 'You are being rate limited.', retry_after: s, global: false }),
    };
  }
  check(path === '/v3.0/oa/message/cs', 'a known path');
  const { recipient, message } = body as { recipient?: { user_id?: unknown }; message?: { text?: unknown } };
  check(typeof recipient?.user_id === 'string' && isText(message?.text, 2_000), 'recipient.user_id and message.text');
  const isValid = request.headers['access_token'] === standIn.zalo.access;
  return {
    received: { service: 'zalo', target: recipient.user_id, text: String(message?.text) },
    accepted: { error: 0, message: 'Success', data: { message_id: '1' } },
    limited: () => ({ error: -32, message: 'Your application reached limit call api' }),
    ...(isValid ? {} : { refusal: { error: -216, message: 'Access token is invalid' } }),
  };
}

/** Both tokens are replaced: a refresh token works once. */
function renew(
  { zalo }: Playing,
  request: IncomingMessage,
  text: string,
  answer: (status: number, body: object) => void,
): void {
  const form = new URLSearchParams(text);
  check(request.headers['secret_key'] === zaloApp.secret && form.get('app_id') === zaloApp.id, 'app id and secret');
  check(form.get('grant_type') === 'refresh_token', 'the grant type');
  if (form.get('refresh_token') !== zalo.refresh) {
    answer(200, { error: -14020, error_name: 'Invalid refresh token' });
    return;
  }
  zalo.access = `access-${Math.random()}`;
  zalo.refresh = `refresh-token-${Math.random()}`;
  answer(200, { access_token: zalo.access, refresh_token: zalo.refresh, expires_in: '90000' });
}

function isText(value: unknown, max: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= max;
}

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`not as documented: ${what}`);
}
