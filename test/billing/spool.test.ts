import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Settlement } from '../../server/billing/lane/ledger.ts';
import { createSpool, type Spool } from '../../server/billing/spool/spool.ts';
import { decode, encode } from '../../server/billing/spool/spool-lines.ts';
import { writerIsGone } from '../../server/billing/spool/spool-reader.ts';
import { createDirectory } from '../support/directory.ts';
import { quiet, usd } from './support.ts';

/** The spool: settlements on disk until the database has them, also after crashes and on a full disk. */

const fdatasync = vi.fn<(fd: number, done: (error: Error | null) => void) => void>((_fd, done) => done(null));

let directory: string;
let spools: Spool[];

beforeEach(() => {
  directory = join(createDirectory('steyg-spool-'), 'spool');
  spools = [];
});

afterEach(() => {
  for (const each of spools) each.close();
  rmSync(join(directory, '..'), { recursive: true, force: true });
});

const mine = '11111111-1111-4111-8111-111111111111';
const theirs = '22222222-2222-4222-8222-222222222222';

function spool(processId = mine, segmentBytes?: number): Spool {
  const created = createSpool({
    directory,
    processId,
    log: quiet,
    forceFile: fdatasync,
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
  });
  spools.push(created);
  return created;
}

const line = (requestId: string, more: Partial<Settlement> = {}): Settlement => ({
  accountId: 'account',
  requestId,
  keyId: 'key',
  model: 'big',
  upstream: 'simulator',
  protocol: 'messages',
  stream: true,
  usage: { input: 1, cacheHit: 2, cacheWrite5m: 3, cacheWrite1h: 4, output: 5 },
  price: { id: 'price', input: 1n, cacheHit: 2n, cacheWrite5m: 3n, cacheWrite1h: 4n, output: usd('0.5') },
  upstreamCost: 9n,
  latencyMs: 1,
  timeToFirstByteMs: null,
  outcome: 'completed',
  usageSource: 'reported',
  ...more,
});

const files = (): string[] => readdirSync(directory).sort();
const adoptAll = async (by: Spool): Promise<Settlement[]> => {
  const found: Settlement[] = [];
  for (const file of by.others()) await by.adopt(file, async (settlement) => void found.push(settlement));
  return found;
};

describe('a line', () => {
  test('is on disk when append returns, and comes back as it was', async () => {
    const settlement = line('1');
    spool(theirs).append(settlement);
    expect(readFileSync(join(directory, `${theirs}.0.ndjson`), 'utf8')).toContain('"requestId":"1"');
    expect(await adoptAll(spool())).toEqual([settlement]);
    expect(files()).toEqual([]);
  });

  test('is readable by its owner only', () => {
    spool().append(line('1'));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, `${mine}.0.ndjson`)).mode & 0o777).toBe(0o600);
  });

  test('without an upstream cost has none afterwards', async () => {
    const settlement = line('1', { upstreamCost: null });
    spool(theirs).append(settlement);
    expect(await adoptAll(spool())).toEqual([settlement]);
  });
});

describe('segments', () => {
  test('an idle process leaves no file, and a closed one only what is not in the database', () => {
    const own = spool();
    expect(own.others()).toEqual([]);
    const [first, second] = [own.append(line('1')), own.append(line('2'))];
    own.acknowledge(first);
    own.close();
    expect(files()).toHaveLength(1);
    const again = spool(theirs);
    const receipt = again.append(line('3'));
    again.acknowledge(receipt);
    again.close();
    expect(files()).toEqual([`${mine}.0.ndjson`]);
    own.acknowledge(second);
  });

  test('a line that comes after the end is written all the same', async () => {
    const own = spool(theirs);
    own.append(line('1'));
    own.close();
    own.append(line('2'));
    expect(own.writable).toBe(true);
    expect((await adoptAll(spool())).map((each) => each.requestId)).toEqual(['1', '2']);
  });

  test('lines of one turn are written together, before any callback', async () => {
    const own = spool();
    const onDisk: number[] = [];
    const told = ['1', '2', '3'].map(
      (id) =>
        new Promise<void>((resolve) => {
          own.appendSoon(line(id), () => {
            onDisk.push(readFileSync(join(directory, files()[0] as string), 'utf8').split('\n').length - 2);
            resolve();
          });
        }),
    );
    expect(onDisk).toEqual([]);
    await Promise.all(told);
    expect(onDisk).toEqual([3, 3, 3]);
  });

  test('lines of the last turn are written before the end', async () => {
    const own = spool(theirs);
    own.appendSoon(line('1'), () => {});
    own.close();
    expect((await adoptAll(spool())).map((each) => each.requestId)).toEqual(['1']);
  });

  test('are deleted when all their lines are in the database, so a busy process keeps a few', () => {
    const own = spool(mine, 2_000);
    const receipts = Array.from({ length: 40 }, (_, i) => own.append(line(String(i))));
    expect(files().length).toBeGreaterThan(5);
    // The newest may be waiting for long; the ones before it go.
    const newest = receipts.pop();
    for (const receipt of receipts) own.acknowledge(receipt);
    expect(files()).toHaveLength(1);
    expect(readFileSync(join(directory, files()[0] as string), 'utf8')).toContain('"requestId":"39"');
    own.acknowledge(newest as never);
  });

  test('a large one that is done is not appended to for ever', () => {
    const own = spool();
    for (let i = 0; i < 3_000; i += 1) own.acknowledge(own.append(line(String(i))));
    const sizes = files().map((name) => statSync(join(directory, name)).size);
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThan(530_000);
  });
});

describe('a disk that takes nothing', () => {
  test('makes it unwritable, loses no line, and is noticed when it takes lines again', async () => {
    vi.useFakeTimers();
    try {
      mkdirSync(join(directory, '..'), { recursive: true });
      writeFileSync(directory, 'in the way');
      const own = spool();
      expect(own.writable).toBe(true);
      const done = own.append(line('1'));
      own.append(line('2'));
      expect(own.writable).toBe(false);
      own.acknowledge(done);
      vi.advanceTimersByTime(3_000);
      expect(own.writable).toBe(false);
      unlinkSync(directory);
      vi.advanceTimersByTime(1_000);
      expect(own.writable).toBe(true);
      expect((await adoptAll(spool(theirs))).map((each) => each.requestId)).toEqual(['2']);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the power of the machine', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());
  /** So many seconds, with what begins in each of them. */
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      vi.advanceTimersByTime(1_000);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };

  test('a line is forced to disk within two seconds while the database does not have it, once', async () => {
    fdatasync.mockClear();
    const own = spool();
    own.append(line('1'));
    await pass(2);
    expect(fdatasync).toHaveBeenCalledTimes(1);
    await pass(5);
    expect(fdatasync).toHaveBeenCalledTimes(1);
    own.append(line('2'));
    // Until the folder's names are on a disk that no clock of this test moves, nothing else is forced.
    await vi.waitFor(() => expect(fdatasync.mock.calls.length).toBeGreaterThan(1), {
      timeout: 60_000,
      interval: 1_000,
    });
    expect(fdatasync).toHaveBeenCalledTimes(2);
  });

  test('nothing is forced while the database gets each line within a second', async () => {
    fdatasync.mockClear();
    const own = spool();
    let last = own.append(line('0'));
    for (let second = 1; second < 20; second += 1) {
      await pass(1);
      const next = own.append(line(String(second)));
      own.acknowledge(last);
      last = next;
    }
    expect(fdatasync).not.toHaveBeenCalled();
  });

  test('lines that a disk could not be forced to take are in another file, and nothing is admitted until then', async () => {
    const own = spool(theirs);
    own.append(line('1'));
    fdatasync.mockImplementationOnce((_fd, done) => done(Object.assign(new Error('EIO'), { code: 'EIO' })));
    await pass(2);
    expect(own.writable).toBe(false);
    expect(readFileSync(join(directory, `${theirs}.0.ndjson`), 'utf8')).toContain('"requestId":"1"');
    await pass(1);
    expect(own.writable).toBe(true);
    expect(files()).toEqual([`${theirs}.1.ndjson`]);
    expect((await adoptAll(spool())).map((each) => each.requestId)).toEqual(['1']);
  });

  test('what it leaves of a file is settled as far as it is whole, and set aside where it is half a line', async () => {
    spool(theirs).append(line('1'));
    const path = join(directory, `${theirs}.0.ndjson`);
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, `${whole}{"accountId":"acc${'\0'.repeat(5_000)}`);
    writeFileSync(join(directory, `${mine}.0.ndjson`), '\0'.repeat(5_000));
    const found: string[] = [];
    const own = spool('33333333-3333-4333-8333-333333333333');
    for (const file of own.others()) await own.adopt(file, async ({ requestId }) => void found.push(requestId));
    expect(found).toEqual(['1']);
    expect(files()).toEqual(['quarantine.log']);
    const aside = readFileSync(join(directory, 'quarantine.log'), 'utf8').trim().split('\n');
    expect(aside.map((each) => JSON.parse(each).line)).toEqual(['{"accountId":"acc\0']);
  });
});

describe('a file of a process that is gone', () => {
  test('is settled whole and deleted; what cannot be read is set aside', async () => {
    const dead = spool(theirs);
    dead.append(line('1'));
    appendFileSync(join(directory, `${theirs}.0.ndjson`), 'not json\n{"usage":{},"price":{"input":1}}\n[]\n');
    dead.append(line('2'));
    appendFileSync(join(directory, `${theirs}.0.ndjson`), '{"accountId":"account","requ');
    expect((await adoptAll(spool())).map((each) => each.requestId)).toEqual(['1', '2']);
    expect(files()).toEqual(['quarantine.log']);
    const aside = readFileSync(join(directory, 'quarantine.log'), 'utf8')
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each));
    expect(aside.map((each) => each.line)).toEqual([
      'not json',
      '{"usage":{},"price":{"input":1}}',
      '[]',
      '{"accountId":"account","requ',
    ]);
  });

  test('stays when a line could not be settled', async () => {
    spool(theirs).append(line('1'));
    const own = spool();
    const [file] = own.others();
    await expect(own.adopt(file as never, () => Promise.reject(new Error('no database')))).rejects.toThrow(
      'no database',
    );
    expect(files()).toHaveLength(1);
  });

  test('is known by its number on this machine', () => {
    const file = { path: join(directory, `${theirs}.0.ndjson`), processId: theirs };
    mkdirSync(directory, { recursive: true });
    const writtenBy = (pid: number, host: string) => writeFileSync(file.path, `${JSON.stringify({ host, pid })}\n`);
    writtenBy(2 ** 22 + 1, hostname());
    expect(writerIsGone(file)).toBe(true);
    writtenBy(process.ppid, hostname());
    expect(writerIsGone(file)).toBe(false);
    // Pids are reused after a container's restart: ours was another process's.
    writtenBy(process.pid, hostname());
    expect(writerIsGone(file)).toBe(true);
    writtenBy(2 ** 22 + 1, 'another-machine');
    expect(writerIsGone(file)).toBe(false);
    writeFileSync(file.path, 'half a li');
    expect(writerIsGone(file)).toBe(false);
    unlinkSync(file.path);
    expect(writerIsGone(file)).toBe(false);
  });

  test('that lives after all loses nothing: it notices that its file is gone and writes its lines again', async () => {
    const alive = spool(theirs);
    alive.append(line('1'));
    expect(await adoptAll(spool())).toHaveLength(1);
    expect(files()).toEqual([]);
    // Not acknowledged yet: from its side, line 1 is not in the database.
    alive.append(line('2'));
    expect(files()).toEqual([`${theirs}.1.ndjson`]);
    expect((await adoptAll(spool())).map((each) => each.requestId).sort()).toEqual(['1', '2']);
  });

  test('that lives after all and writes while it is adopted loses nothing', async () => {
    const alive = spool(theirs);
    alive.append(line('1'));
    const own = spool();
    const found: string[] = [];
    const [file] = own.others();
    await own.adopt(file as never, async ({ requestId }) => {
      if (requestId === '1') alive.append(line('2'));
      found.push(requestId);
    });
    expect(found).toEqual(['1', '2']);
  });

  test('whose last character is half written is read to its end', async () => {
    const path = join(directory, `${theirs}.0.ndjson`);
    mkdirSync(directory, { recursive: true });
    const writer = spool(theirs);
    writer.append(line('1'));
    writer.append(line('2', { model: 'mô-hình' }));
    const whole = readFileSync(path);
    const cut = whole.indexOf('ô') + 1;
    writeFileSync(path, whole.subarray(0, cut));
    const found: Settlement[] = [];
    await spool().adopt({ path, processId: theirs }, async (settlement) => {
      if (settlement.requestId === '1') appendFileSync(path, whole.subarray(cut));
      found.push(settlement);
    });
    expect(found.map(({ requestId, model }) => [requestId, model])).toEqual([
      ['1', 'big'],
      ['2', 'mô-hình'],
    ]);
  });

  test('put there by hand is adopted too; the quarantine is not', () => {
    const own = spool();
    own.quarantine(line('1'), 'a test');
    writeFileSync(join(directory, 'by-hand.ndjson'), '');
    expect(own.others()).toEqual([{ path: join(directory, 'by-hand.ndjson'), processId: null }]);
  });
});

describe('a line names whom a request was for', () => {
  const attribution = { session: '~digest', user: null, tags: ['team=~digest'] };

  test('as it was written', () => {
    const { usage, price } = line('one');
    const { id: _id, ...prices } = price;
    const lines = [{ model: 'other', usage, price: { ...prices, output: usd('0.000025') } }];
    const each = line('one', { attribution, lines });
    expect(decode(encode(each).trimEnd())).toEqual(each);
  });

  test.each([
    null,
    7,
    'x',
    [],
    {},
    { session: 7, user: {}, tags: 'x' },
    { session: '\u0000', user: '\ud800', tags: [null, 'a\u0000'] },
    { session: 'x'.repeat(300), user: '', tags: [{}] },
  ])('and %j, which names nobody, is no fault of the settlement', (odd) => {
    const text = JSON.stringify({ ...JSON.parse(encode(line('one'))), attribution: odd });
    expect(decode(text)).toEqual(line('one'));
  });
});
