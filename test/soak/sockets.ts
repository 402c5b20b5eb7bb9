import { once } from 'node:events';
import { WebSocket } from 'ws';

/** One client of the soak that speaks responses over WebSockets: a connection for each process, and turns that go on from each other. */

export interface SocketTurn {
  how: 'finished' | 'refused' | 'broken';
  /** Of the request that the turn was; empty when it did not end well. */
  requestId: string;
}

interface Frame {
  type: string;
  response?: { id: string };
}

interface OpenSocket {
  socket: WebSocket;
  previous: string | null;
  turns: number;
}

/** A conversation begins anew after so many turns. */
const maxTurns = 12;
const patienceMs = 30_000;

export function createSocketClient() {
  const open = new Map<string, OpenSocket>();

  const connect = async (port: number, secret: string): Promise<OpenSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/responses`, {
      headers: { authorization: `Bearer ${secret}` },
      handshakeTimeout: patienceMs,
    });
    socket.on('error', () => undefined);
    await Promise.race([once(socket, 'open'), once(socket, 'close').then(() => Promise.reject(new Error('closed')))]);
    return { socket, previous: null, turns: 0 };
  };

  /** The last frame of a turn; null: the connection was closed before. */
  const end = (socket: WebSocket): Promise<Frame | null> =>
    new Promise((resolve) => {
      const finish = (frame: Frame | null): void => {
        clearTimeout(timer);
        socket.off('message', read);
        socket.off('close', leave);
        resolve(frame);
      };
      const leave = (): void => finish(null);
      const read = (data: Buffer): void => {
        const frame = JSON.parse(data.toString()) as Frame;
        if (/^(?:response\.(?:completed|incomplete|failed)|error)$/.test(frame.type)) finish(frame);
      };
      const timer = setTimeout(leave, patienceMs);
      socket.on('message', read);
      socket.on('close', leave);
    });

  return {
    /** `leaves`: the connection is cut in the middle. */
    async turn(port: number, secret: string, { text, leaves }: { text: string; leaves: boolean }): Promise<SocketTurn> {
      const name = `${port} ${secret}`;
      let kept = open.get(name);
      if (kept === undefined || kept.socket.readyState !== WebSocket.OPEN || kept.turns >= maxTurns) {
        kept?.socket.close();
        kept = await connect(port, secret);
        open.set(name, kept);
      }
      const { socket, previous } = kept;
      const goesOn = previous === null ? {} : { previous_response_id: previous };
      const ended = end(socket);
      socket.send(
        JSON.stringify({
          type: 'response.create',
          model: 'on-chat-completions',
          max_output_tokens: 500,
          ...goesOn,
          input: text,
        }),
      );
      if (leaves) setTimeout(() => socket.terminate(), 20);
      const frame = await ended;
      kept.turns += 1;
      const id = frame?.response?.id ?? '';
      kept.previous = frame?.type === 'response.completed' ? id : null;
      if (frame === null) return { how: 'broken', requestId: '' };
      if (frame.type === 'error') return { how: 'refused', requestId: '' };
      if (frame.type !== 'response.completed') return { how: 'broken', requestId: '' };
      // The response of a translated turn is called after its request.
      return { how: 'finished', requestId: id.replace('resp_', '') };
    },
    close(): void {
      for (const { socket } of open.values()) socket.terminate();
    },
  };
}
