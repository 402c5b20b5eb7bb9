import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  boundConnections,
  type ConnectionRoom,
  readOpenFilesLimit,
  roomOf,
} from '../../server/runtime/connection-room.ts';

/** Connections of clients leave descriptors for everything else, and idle ones give way to those that ask. */

let server: Server | null = null;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.closeAllConnections();
  server?.close();
});

/** `room`: descriptors for connections. Requests for `/wait` are answered when `answer` is called. */
async function start(room: number, trustedProxies: string[] = []) {
  const waiting: ServerResponse[] = [];
  server = createServer((request, response) => {
    if (request.url === '/wait') waiting.push(response);
    else response.end('ok');
  });
  const bound: ConnectionRoom = boundConnections(server, { openFiles: (room * 4) / 3, trustedProxies });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (from = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from });
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const ask = async (socket: Socket, path = '/'): Promise<string> => {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    const [bytes] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])])) as [Buffer];
    return bytes.toString().slice(0, 15);
  };
  return { bound, open, ask, waiting };
}

const isOpen = (socket: Socket): boolean => !socket.destroyed && socket.readyState === 'open';

describe('connections', () => {
  it('that are idle refuse nobody: the one that has been idle longest closes', async () => {
    const { bound, open, ask } = await start(30);
    const idle: Socket[] = [];
    for (let i = 0; i < 100; i += 1) idle.push(await open());
    const client = await open();
    expect(await ask(client)).toBe('HTTP/1.1 200 OK');
    await delay(50);
    expect(idle.filter(isOpen).length).toBeLessThanOrEqual(30);
    expect(idle.slice(0, 70).filter(isOpen)).toEqual([]);
    expect(idle.slice(80).filter(isOpen).length).toBe(20);
    expect(bound.closed).toBeGreaterThanOrEqual(70);
  });

  it('of one address give way first: others keep theirs, however old', async () => {
    const { open, ask } = await start(40);
    const client = await open('127.0.0.2');
    expect(await ask(client)).toBe('HTTP/1.1 200 OK');
    for (let i = 0; i < 200; i += 1) await open('127.0.0.3');
    await delay(50);
    expect(isOpen(client)).toBe(true);
    expect(await ask(client)).toBe('HTTP/1.1 200 OK');
  });

  it('of a trusted proxy are those of many clients: they have no share of one', async () => {
    const { open } = await start(40, ['127.0.0.4']);
    const first = await open('127.0.0.5');
    for (let i = 0; i < 60; i += 1) await open('127.0.0.4');
    await delay(50);
    expect(isOpen(first)).toBe(false);
  });

  it('with a request stay; when all are at work, requests are refused before connections are', async () => {
    const { bound, open, ask, waiting } = await start(30);
    const busy: Promise<string>[] = [];
    for (let i = 0; i < 9; i += 1) busy.push(ask(await open(), '/wait'));
    await expect.poll(() => waiting.length).toBe(9);
    expect(bound.isFull).toBe(false);
    const idle = [await open(), await open(), await open()];
    expect(idle.every(isOpen)).toBe(true);
    busy.push(ask(idle[2] as Socket, '/wait'));
    await expect.poll(() => waiting.length).toBe(10);
    await delay(50);
    // Three descriptors a request: both idle ones gave way to the tenth.
    expect(idle.slice(0, 2).filter(isOpen)).toEqual([]);
    expect(bound.isFull).toBe(false);
    const late = await open();
    expect(await Promise.race([once(late, 'close').then(() => 'closed'), delay(2_000).then(() => 'open')])).toBe(
      'closed',
    );
    for (const response of waiting) response.end('ok');
    expect(new Set(await Promise.all(busy))).toEqual(new Set(['HTTP/1.1 200 OK']));
    expect(await ask(await open())).toBe('HTTP/1.1 200 OK');
  });

  it('leave room for the database, upstreams and the spool, at small limits, too', () => {
    expect(roomOf(1_024)).toBe(768);
    expect(roomOf(200)).toBe(150);
    expect(roomOf(65_536)).toBe(65_280);
    expect(roomOf(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
    const limits =
      'Limit   Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n';
    expect(readOpenFilesLimit(() => limits)).toBe(1_024);
    expect(readOpenFilesLimit(() => 'Max open files            unlimited            unlimited            files')).toBe(
      Number.POSITIVE_INFINITY,
    );
    expect(
      readOpenFilesLimit(() => {
        throw new Error('no such file');
      }),
    ).toBe(Number.POSITIVE_INFINITY);
  });
});
