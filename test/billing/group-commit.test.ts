import { afterEach, describe, expect, test } from 'vitest';
import type { Operation, Result } from '../../server/billing/lane/batch.ts';
import { Closed, Quarantined, Unreachable, Unworkable } from '../../server/billing/lane/failure.ts';
import { createGroupCommit, type GroupCommit } from '../../server/billing/lane/group-commit.ts';
import { quiet } from './support.ts';

/** A scripted database: it answers, fails, or blocks. */
function scripted({ maxWaitMs = 60_000 }: { maxWaitMs?: number } = {}) {
  const batches: string[][] = [];
  let gate: Promise<void> = Promise.resolve();
  let opened: () => void = nothing;
  let behave: (names: string[]) => void = nothing;
  const commit = createGroupCommit({
    log: quiet,
    maxWaitMs,
    async perform(operations) {
      const names = operations.map(nameOf);
      batches.push(names);
      await gate;
      behave(names);
      return operations.map(resultOf);
    },
  });
  open.push(commit);
  return {
    commit,
    batches,
    /** From now on batches wait until the returned function is called. */
    hold: (): (() => void) => {
      gate = new Promise((resolve) => {
        opened = resolve;
      });
      return () => opened();
    },
    onBatch: (what: (names: string[]) => void): void => {
      behave = what;
    },
  };
}

const nothing = (): void => undefined;
const open: GroupCommit[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((commit) => commit.close(0)));
});

const nameOf = (operation: Operation): string => {
  if (operation.kind === 'expire') return `expire ${operation.accountId}`;
  if (operation.kind === 'admit' || operation.kind === 'set_aside')
    return `${operation.kind} ${operation.ask.requestId}`;
  if (operation.kind === 'trim' || operation.kind === 'refill') return `${operation.kind} ${operation.escrowId}`;
  return `${operation.kind} ${operation.kind === 'settle' ? operation.settlement.requestId : operation.requestId}`;
};
const resultOf = (operation: Operation): Result => {
  if (operation.kind === 'admit') return { kind: 'admitted', amount: 7n } as Result;
  if (operation.kind === 'extend') return { kind: 'extended', addedPico: 7n };
  if (operation.kind === 'settle') return { kind: 'settled', settled: { charged: 7n } } as Result;
  return { kind: 'released', wasHeld: true };
};

const admit = (requestId: string): Operation => ({ kind: 'admit', ask: { requestId, accountId: 'a' } }) as Operation;
const settle = (requestId: string): Operation =>
  ({ kind: 'settle', settlement: { requestId, accountId: 'a' } }) as Operation;
const release = (requestId: string): Operation => ({
  kind: 'release',
  accountId: 'a',
  requestId,
  onlyIfOrphaned: false,
});
const extend = (requestId: string): Operation => ({ kind: 'extend', accountId: 'a', requestId, morePico: 1n });

const databaseError = (code: string): Error => Object.assign(new Error('no'), { code, severity: 'ERROR' });
const outage = (): Error => Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });

describe('a batch', () => {
  test('takes everything that waits, settlements before admissions', async () => {
    const { commit, batches } = scripted();
    await Promise.all([admit('1'), extend('2'), release('3'), settle('4'), admit('5')].map((each) => commit.add(each)));
    expect(batches).toEqual([['settle 4', 'release 3', 'extend 2', 'admit 1', 'admit 5']]);
  });

  test('gathers while the one before it is in flight, and never overtakes it', async () => {
    const { commit, batches, hold } = scripted();
    const release = hold();
    const first = commit.add(admit('1'));
    await expect.poll(() => batches).toHaveLength(1);
    const later = ['2', '3', '4'].map((id) => commit.add(admit(id)));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(batches).toHaveLength(1);
    release();
    await Promise.all([first, ...later]);
    expect(batches).toEqual([['admit 1'], ['admit 2', 'admit 3', 'admit 4']]);
  });

  test('has at most 256 operations, and a backlog of settlements leaves room for admissions', async () => {
    const { commit, batches } = scripted();
    const all = Array.from({ length: 600 }, (_, i) => commit.add(settle(`s${i}`)));
    all.push(...Array.from({ length: 100 }, (_, i) => commit.add(admit(`a${i}`))));
    await Promise.all(all);
    expect(batches.map((batch) => batch.length)).toEqual([256, 256, 188]);
    expect(batches.map((batch) => batch.filter((name) => name.startsWith('admit')).length)).toEqual([64, 36, 0]);
  });
});

describe('contention', () => {
  test.each(['40001', '40P01', '55P03', '57014', '22012', '23505'])(
    '%s is retried, and no caller notices',
    async (code) => {
      const { commit, batches, onBatch } = scripted();
      let failures = 4;
      onBatch(() => {
        if (failures-- > 0) throw databaseError(code);
      });
      expect(await commit.add(admit('1'))).toMatchObject({ kind: 'admitted' });
      expect(batches).toHaveLength(5);
      expect(commit.down).toBe(false);
    },
  );

  test('that does not end: admissions are told, settlements wait', async () => {
    const { commit, onBatch } = scripted();
    let blocked = true;
    onBatch((names) => {
      if (blocked && names.length > 0) throw databaseError('55P03');
    });
    const settled = commit.add(settle('1'));
    expect(await commit.add(admit('2'))).toMatchObject({ kind: 'refused', reason: 'unavailable' });
    expect(commit.down).toBe(true);
    blocked = false;
    expect(await settled).toMatchObject({ kind: 'settled' });
    expect(commit.down).toBe(false);
  });
});

describe('an outage', () => {
  test.each<[string, () => Error]>([
    ['a refused connection', outage],
    ['a broken connection', () => new Error('Connection terminated unexpectedly')],
    ['a server that shuts down', () => databaseError('57P01')],
    ['a full disk', () => databaseError('53100')],
    ['a server that is read-only', () => databaseError('25006')],
    ['a table that is not there yet', () => databaseError('42P01')],
  ])('%s loses no settlement and no release, and refuses admissions at once', async (_what, error) => {
    const { commit, onBatch } = scripted();
    let down = true;
    onBatch(() => {
      if (down) throw error();
    });
    const kept = [commit.add(settle('1')), commit.add(release('2'))];
    expect(await commit.add(admit('3'))).toMatchObject({ kind: 'refused', reason: 'unavailable' });
    expect(await commit.add(admit('4'))).toMatchObject({ kind: 'refused', reason: 'unavailable' });
    await expect(commit.add(extend('5'))).rejects.toThrow(Unreachable);
    expect(commit.calmForMs).toBe(0);
    kept.push(commit.add(settle('6')));
    down = false;
    expect((await Promise.all(kept)).map((result) => result.kind)).toEqual(['settled', 'released', 'settled']);
    expect(await commit.add(admit('7'))).toMatchObject({ kind: 'admitted' });
    expect(commit.calmForMs).toBeGreaterThan(0);
  });

  test('gives back what an admission may have held although its answer was lost', async () => {
    const { commit, batches, onBatch } = scripted();
    onBatch((names) => {
      if (names.includes('admit 1')) throw outage();
    });
    expect(await commit.add(admit('1'))).toMatchObject({ reason: 'unavailable' });
    await expect.poll(() => batches.flat()).toContain('release 1');
  });

  test('ends by itself when nothing waits', async () => {
    const { commit, onBatch } = scripted();
    let down = true;
    onBatch(() => {
      if (down) throw outage();
    });
    await expect(commit.nudge()).rejects.toThrow('gone');
    expect(commit.down).toBe(true);
    down = false;
    await expect.poll(() => commit.down).toBe(false);
  });
});

describe('a poison item', () => {
  test.each<[string, () => Error]>([
    ['a broken CHECK', () => databaseError('23514')],
    ['an overflow', () => databaseError('22003')],
    ['a rule that refuses it', () => new Unworkable('no')],
    ['a unique violation that stays', () => databaseError('23505')],
  ])('%s: is taken out, and the other 255 are settled', async (_what, error) => {
    const { commit, onBatch } = scripted();
    onBatch((names) => {
      if (names.includes('settle 77')) throw error();
    });
    const all = await Promise.allSettled(Array.from({ length: 256 }, (_, i) => commit.add(settle(String(i)))));
    expect(all.filter((result) => result.status === 'fulfilled')).toHaveLength(255);
    expect(all[77]).toMatchObject({ status: 'rejected', reason: expect.any(Quarantined) });
    expect(commit.down).toBe(false);
  });

  test('of each kind is answered', async () => {
    const { commit, onBatch } = scripted();
    onBatch((names) => {
      if (names.some((name) => name.endsWith('bad'))) throw databaseError('22P02');
    });
    expect(await commit.add(admit('bad'))).toMatchObject({ reason: 'unavailable' });
    await expect(commit.add(extend('bad'))).rejects.toThrow(Unreachable);
    await expect(commit.add(release('bad'))).rejects.toThrow(Quarantined);
    expect(await commit.add(admit('good'))).toMatchObject({ kind: 'admitted' });
  });
});

describe('patience', () => {
  test('an admission that waits for too long is told, and what it held after all is given back', async () => {
    const { commit, batches, hold } = scripted({ maxWaitMs: 50 });
    const go = hold();
    const inFlight = commit.add(admit('1'));
    await expect.poll(() => batches).toHaveLength(1);
    const queued = commit.add(admit('2'));
    const settled = commit.add(settle('3'));
    expect(await Promise.all([inFlight, queued])).toMatchObject([{ reason: 'unavailable' }, { reason: 'unavailable' }]);
    go();
    expect(await settled).toMatchObject({ kind: 'settled' });
    await expect.poll(() => batches.flat()).toContain('release 1');
    expect(batches.flat()).not.toContain('admit 2');
  });

  test('a queue of 2,000 admissions takes no more', async () => {
    const { commit, batches, hold } = scripted();
    const go = hold();
    const first = commit.add(admit('first'));
    await expect.poll(() => batches).toHaveLength(1);
    const queued = Array.from({ length: 2_000 }, (_, i) => commit.add(admit(String(i))));
    expect(await commit.add(admit('one too many'))).toMatchObject({ reason: 'unavailable' });
    const settled = commit.add(settle('1'));
    go();
    for (const result of await Promise.all([first, ...queued])) expect(result.kind).toBe('admitted');
    expect(await settled).toMatchObject({ kind: 'settled' });
  });
});

describe('closing', () => {
  test('carries out what waits and takes nothing new', async () => {
    const { commit, batches, hold } = scripted();
    const go = hold();
    const first = commit.add(settle('1'));
    await expect.poll(() => batches).toHaveLength(1);
    const second = commit.add(settle('2'));
    const closed = commit.close(5_000);
    expect(await commit.add(admit('3'))).toMatchObject({ reason: 'unavailable' });
    const third = commit.add(settle('4'));
    go();
    expect((await Promise.all([first, second, third])).map((result) => result.kind)).toEqual([
      'settled',
      'settled',
      'settled',
    ]);
    await closed;
    await expect(commit.add(settle('5'))).rejects.toThrow(Closed);
  });

  test('does not wait for ever for a database that is gone', async () => {
    const { commit, onBatch } = scripted();
    onBatch(() => {
      throw outage();
    });
    const lost = Promise.allSettled([commit.add(settle('1'))]);
    await commit.close(50);
    expect(await lost).toMatchObject([{ status: 'rejected', reason: expect.any(Closed) }]);
  });
});
