import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import type { Config } from '../../runtime/config.ts';
import { checkPort } from '../../runtime/listening.ts';
import { createPieces, pieceCount, pieceEveryMs, piecesPath } from '../../runtime/pieces.ts';
import { isPrivateAddress } from '../../shared/private-addresses.ts';
import { findingOf, type HostFinding } from './finding.ts';

/**
 * Examines the way from `PUBLIC_URL` back to this machine. Where the server runs, it answers; where its port is free, a
 * stand-in listens there meanwhile, so that a host can be examined before the first start.
 */

const answerTimeoutMs = 10_000;
/** A machine that is busy may deliver single pieces together. A proxy that collects them delivers all at once each time. */
const streamTries = 3;
const standInHeader = 'x-steyg-doctor';

export async function examineAddresses(config: Config): Promise<HostFinding[]> {
  const standIn = await takePort(config);
  try {
    const port = await examinePort(config, standIn);
    if (port.state === 'bad') return [port];
    return [
      port,
      await examinePublicAddress(config, standIn?.name ?? null),
      await examineBuffering(config.publicUrl),
      ...(await examineWebhooks(config)),
    ];
  } finally {
    await standIn?.close();
  }
}

interface StandIn {
  /** What it says in each answer, so that it is recognised at the other end. */
  name: string;
  close(): Promise<void>;
}

/** Listens in place of the server; null when somebody listens there already. */
async function takePort({ host, port }: Config): Promise<StandIn | null> {
  const isFree = await checkPort({ host, port }).then(
    () => true,
    () => false,
  );
  if (!isFree) return null;
  const name = randomUUID();
  const server = createServer((request, response) => {
    response.setHeader(standInHeader, name);
    const isStream = request.url?.split('?')[0]?.endsWith(piecesPath) === true;
    response.writeHead(isStream ? 200 : 401, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (isStream) Readable.from(createPieces()).pipe(response);
    else response.end('{"success":false}');
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    name,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function examinePort({ host, port }: Config, standIn: StandIn | null): Promise<HostFinding> {
  if (standIn !== null) return { subject: 'port', state: 'good', found: `${port} is free` };
  const near =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' || host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
  const answer = await ask(`http://${near}:${port}${piecesPath}`);
  const isOurs = answer.text.includes('event: piece');
  return findingOf('port', isOurs ? `${port} is the running server’s` : `${port} is taken by another program`, [
    isOurs,
    'bad',
    'Choose another PORT, or end the program that has it.',
  ]);
}

async function examinePublicAddress({ publicUrl, production }: Config, standIn: string | null): Promise<HostFinding> {
  const { hostname, protocol } = new URL(publicUrl);
  const name = hostname.replace(/^\[|\]$/g, '');
  const addresses =
    isIP(name) > 0
      ? [name]
      : await lookup(name, { all: true }).then(
          (all) => all.map(({ address }) => address),
          () => [],
        );
  const answer = await ask(publicUrl + piecesPath);
  const isHere = answer.text.includes('event: piece') && (standIn === null || answer.standIn === standIn);
  const found = `${publicUrl} (${addresses.join(', ') || 'unknown name'}): ${isHere ? 'reaches this machine' : answer.said}`;
  return findingOf(
    'public address',
    found,
    [addresses.length > 0, 'bad', 'Enter the name of PUBLIC_URL into the DNS.'],
    [isHere, 'bad', 'PUBLIC_URL must lead here: look at the proxy’s address of the server, and at its certificate.'],
    [protocol === 'https:' || !production, 'doubtful', 'Without https: keys and passwords travel in the clear.'],
    [
      !addresses.every(isPrivateAddress) || !production,
      'doubtful',
      'Only machines of this network reach that address.',
    ],
  );
}

async function examineBuffering(publicUrl: string): Promise<HostFinding> {
  let longestMs = 0;
  for (let turn = 0; turn < streamTries && longestMs < spreadMs / 2; turn += 1) {
    longestMs = Math.max(longestMs, (await ask(publicUrl + piecesPath)).spreadMs);
  }
  const found = `first and last of ${pieceCount} pieces came ${Math.round(longestMs)} ms apart, sent ${spreadMs} ms apart`;
  return findingOf('streams', found, [
    longestMs >= spreadMs / 2,
    'bad',
    'A proxy collects answers: switch its buffering off (proxy_buffering off), and compression of text/event-stream.',
  ]);
}

/** Milliseconds between the first and the last piece as they are sent. */
const spreadMs = (pieceCount - 1) * pieceEveryMs;

/** Banks’ messages come to these addresses: an unsigned one must reach the server, and be refused there. */
async function examineWebhooks({ publicUrl, bankProviders }: Config): Promise<HostFinding[]> {
  const { sepay, casso, payos } = bankProviders;
  const configured = Object.entries({ sepay, casso, payos }).filter(([, { secret }]) => secret !== '');
  if (configured.length === 0) return [{ subject: 'bank webhooks', state: 'skipped', found: 'none is configured' }];
  return Promise.all(
    configured.map(async ([name]) => {
      const answer = await ask(`${publicUrl}/webhooks/${name}`, { method: 'POST', body: '{}' });
      return findingOf(`webhook ${name}`, answer.said, [
        answer.status === 401 && answer.text.includes('"success":false'),
        'bad',
        'The proxy must pass POST /webhooks on.',
      ]);
    }),
  );
}

interface Answer {
  status: number | null;
  text: string;
  /** The status, or why there is none. */
  said: string;
  /** Milliseconds between its first and last piece. */
  spreadMs: number;
  standIn: string | null;
}

async function ask(url: string, init: { method?: 'POST'; body?: string } = {}): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(answerTimeoutMs);
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    let text = '';
    let firstAt = 0;
    let lastAt = 0;
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      lastAt = performance.now();
      if (firstAt === 0) firstAt = lastAt;
      if (text.length < 10_000) text += decoder.decode(bytes, { stream: true });
    }
    const standIn = response.headers.get(standInHeader);
    return { status: response.status, text, said: `status ${response.status}`, spreadMs: lastAt - firstAt, standIn };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { status: null, text: '', said: `no answer (${cause?.code ?? name})`, spreadMs: 0, standIn: null };
  }
}
