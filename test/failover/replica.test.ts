/** History from a streaming replica: marked with its age, and from the primary whenever the replica cannot be trusted. */

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../server/database/migrate.ts';
import { createHistory, type History } from '../../server/database/replica.ts';
import { type Pair, startPair } from './pair.ts';

let pair: Pair;
let primary: Pool;
let history: History;
const told: string[] = [];
const log = {
  info: (_: object, text: string) => void told.push(text),
  warn: (_: object, text: string) => void told.push(text),
};

/** A write on the primary that the replica can be seen to have. */
const write = (text: string) => primary.query('INSERT INTO seen (text) VALUES ($1)', [text]);
async function texts(): Promise<{ texts: string[]; replica: boolean; ageMs: number | null }> {
  const reader = history.reader();
  const { rows } = await reader.query('SELECT text, pg_is_in_recovery() AS replica FROM seen ORDER BY text');
  return {
    texts: rows.map((row: { text: string }) => row.text),
    replica: rows[0]?.replica as boolean,
    ageMs: reader.ageMs,
  };
}
async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    await pause(200);
  }
}

beforeAll(async () => {
  pair = await startPair({ synchronous: false });
  primary = new Pool({ connectionString: pair.primary.url, max: 4 });
  primary.on('error', () => undefined);
  await migrate({ url: pair.primary.url });
  await primary.query('CREATE TABLE seen (text text)');
  history = createHistory({ primary, replicaUrl: pair.standby.url, isShared: false, maxAgeMs: 20_000, log });
}, 1_200_000);
afterAll(async () => {
  await history.close();
  await primary.end().catch(() => undefined);
  await pair.remove();
});

describe('history', () => {
  it('comes from the replica, and says how old it is at most', async () => {
    await write('a');
    const seen = await until(texts, (each) => each.replica && each.texts.includes('a'));
    expect(seen.ageMs).toBeGreaterThanOrEqual(0);
    expect(seen.ageMs).toBeLessThan(20_000);
  });

  it('cannot be written there: the statement fails there, and is left to the primary', async () => {
    const reader = history.reader();
    await reader.query("INSERT INTO seen (text) VALUES ('b')");
    expect(reader.ageMs).toBeNull();
    const { rows } = await primary.query("SELECT count(*)::int AS n FROM seen WHERE text = 'b'");
    expect(rows[0].n).toBe(1);
  });

  it('comes from the primary when the replica is too far behind, and from the replica when it has caught up', async () => {
    await until(texts, ({ replica }) => replica);
    await pair.standby.query('SELECT pg_wal_replay_pause()');
    await write('c');
    // The replica lacks it, and says so by its age.
    const behind = await until(texts, (each) => !each.replica);
    expect(behind).toMatchObject({ ageMs: null });
    expect(behind.texts).toContain('c');
    expect(told).toContain('the replica is not used: history is read from the primary');
    await pair.standby.query('SELECT pg_wal_replay_resume()');
    await write('d');
    const caught = await until(texts, (each) => each.replica && each.texts.includes('d'));
    expect(caught.ageMs).not.toBeNull();
    expect(told).toContain('the replica is used again');
  }, 90_000);

  it('comes from the primary when the replica dies, without an error', async () => {
    await until(texts, ({ replica }) => replica);
    await pair.standby.kill();
    for (let i = 0; i < 20; i += 1) {
      const seen = await texts();
      expect(seen.replica).toBe(false);
      expect(seen.ageMs).toBeNull();
    }
    await pair.standby.start();
    await write('e');
    await until(texts, (each) => each.replica && each.texts.includes('e'));
  }, 90_000);

  it('does not come from a replica that was promoted: what it shows may be another history', async () => {
    await until(texts, ({ replica }) => replica);
    await pair.standby.promote();
    await pause(1_500);
    await write('f');
    const seen = await texts();
    expect(seen).toMatchObject({ ageMs: null });
    expect(seen.texts).toContain('f');
  }, 60_000);
});
