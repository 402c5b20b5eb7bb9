import { createAccessTokens } from '../../server/people/access-tokens.ts';
import type { TestApp } from '../support/app.ts';

/**
 * What went wrong at other services of this kind, told by their own threads and advisories, and rebuilt here against the
 * running server. Each case names where it was told, and its title says what this service does.
 */

/** A program's credential for the control plane of the operator. */
export async function operatorToken(app: TestApp): Promise<string> {
  const { accountId } = await app.customer();
  return tokenOf(app, accountId, ['read', 'keys', 'billing', 'operator']);
}

export async function tokenOf(
  app: TestApp,
  accountId: string,
  scopes: ('read' | 'keys' | 'billing' | 'operator')[],
): Promise<string> {
  const made = await createAccessTokens({ pool: app.pool }).create(
    { accountId, name: 't', scopes, expiresAt: null, createdBy: null },
    'system',
  );
  if (made.kind !== 'created') throw new Error(made.kind);
  return made.secret;
}

export interface Answered {
  status: number;
  text: string;
  // What comes back is what the test asks for; it says so itself.
  data: Record<string, unknown> | null;
  codes: unknown[];
}

/** One operation of the control plane over HTTP. */
export async function graphql(
  app: TestApp,
  query: string,
  {
    token,
    variables = {},
    headers = {},
  }: { token?: string; variables?: object; headers?: Record<string, string> } = {},
): Promise<Answered> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  });
  const text = await response.text();
  const { data = null, errors = [] } = JSON.parse(text) as {
    data?: Record<string, unknown>;
    errors?: { extensions?: { code?: unknown } }[];
  };
  return { status: response.status, text, data, codes: errors.map(({ extensions }) => extensions?.code) };
}

/** Events of a stream, as a vendor writes them, for the simulator to send as they are. */
export function rawStream(events: readonly (object | string)[]): string {
  const text = events
    .map((event) => {
      if (typeof event === 'string') return `data: ${event}\n\n`;
      const { type } = event as { type?: unknown };
      return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
  const headers = '[[headers {"content-type":"text/event-stream"}]]';
  return `${headers} [[raw ${Buffer.from(text).toString('base64')}]]`;
}

/** A stream of Messages whose usage is this at its start and this at its end. */
export function messagesStream(start: object, end: object): string {
  return rawStream([
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'sim-medium',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: start,
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'said' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: end },
    { type: 'message_stop' },
  ]);
}
