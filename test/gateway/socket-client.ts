import { WebSocket } from 'ws';
import type { TestApp } from '../support/app.ts';

// A client of responses over a WebSocket.

export interface Frame {
  type: string;
  status?: number;
  stream_id?: string;
  delta?: string;
  error?: { code: string | null; message: string; type: string };
  headers?: Record<string, string>;
  response?: { id: string; output: { type: string; call_id?: string }[]; usage?: Record<string, unknown> };
}

/** A client that reads frames one after the other. */
export async function openSocket(app: Pick<TestApp, 'baseUrl'>, secret: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${app.baseUrl.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${secret}`, ...headers },
  });
  const frames: Frame[] = [];
  let wake: (() => void) | null = null;
  let closed: number | null = null;
  socket.on('message', (data: Buffer) => {
    frames.push(JSON.parse(data.toString()) as Frame);
    wake?.();
  });
  socket.on('error', () => undefined);
  socket.on('close', (code) => {
    closed = code;
    wake?.();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const ended = new Promise<number>((resolve) => {
    socket.once('close', (code) => resolve(code));
  });
  const client = {
    socket,
    send: (event: unknown) => socket.send(typeof event === 'string' ? event : JSON.stringify(event)),
    /** The frames of a turn up to its end. */
    async turn(): Promise<Frame[]> {
      const turn: Frame[] = [];
      for (;;) {
        const frame = frames.shift();
        if (frame !== undefined) {
          turn.push(frame);
          if (/^(?:response\.(?:completed|incomplete|failed)|error)$/.test(frame.type)) return turn;
          continue;
        }
        if (closed !== null) throw new Error(`closed with ${closed}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    closed: () => ended,
    create(more: Record<string, unknown> = {}) {
      client.send({ type: 'response.create', model: 'only-responses', store: false, ...more });
      return client.turn();
    },
  };
  return client;
}

export const idOf = (turn: Frame[]): string => turn.at(-1)?.response?.id ?? '';
export const said = (turn: Frame[]): string => turn.map(({ delta = '' }) => delta).join('');
