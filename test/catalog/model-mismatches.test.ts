import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMismatchMails } from '../../server/catalog/mismatch-mails.ts';
import { createModelMismatches, maxNames, storableName } from '../../server/catalog/model-mismatches.ts';
import type { Mail } from '../../server/runtime/mail.ts';
import { until } from '../gateway/support.ts';
import {
  ask,
  catalogFile,
  directions,
  oneRouteEach,
  startApp,
  type TestApp,
  vendorModel,
} from '../resilience/support.ts';

/** An upstream that answers with another model: recorded once, mailed once, closed by an operator, never silent. */

const operators = [
  { email: 'first@operators.example', locale: 'en' },
  { email: 'second@operators.example', locale: 'vi' },
];
const booksUrl = 'http://steyg.test/operator/books';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: (url) => catalogFile(oneRouteEach(url)) });
  // The first start makes an operator of its own.
  await app.pool.query('UPDATE app_user SET operator = false');
  for (const { email, locale } of operators) {
    await app.pool.query(
      `INSERT INTO app_user (name, email, email_verified, operator, locale) VALUES ('Op', $1, true, true, $2)`,
      [email, locale],
    );
  }
  await app.pool.query(`INSERT INTO app_user (name, email) VALUES ('Customer', 'customer@example.com')`);
});
afterAll(() => app.close());
beforeEach(async () => {
  // Counts that an earlier test left in memory are written before they are cleared away.
  await app.pool.query('DELETE FROM model_mismatch');
});

interface Row extends Record<string, unknown> {
  id: string;
  model: string;
  reported: string;
  count: bigint;
}

async function rows(): Promise<Row[]> {
  return (await app.pool.query<Row>('SELECT * FROM model_mismatch ORDER BY model, reported')).rows;
}

async function total(): Promise<number> {
  return (await rows()).reduce((sum, { count }) => sum + Number(count), 0);
}

/** What a run of the mails sends, in the order in which it does. */
async function mailRun(options: { fails?: boolean } = {}): Promise<Mail[]> {
  const sent: Mail[] = [];
  const mails = createMismatchMails({
    pool: app.pool,
    booksUrl,
    log: { warn() {} },
    async deliverMail(mail) {
      if (options.fails === true) throw new Error('no');
      sent.push(mail);
    },
  });
  await mails.sendMails();
  return sent.toSorted((a, b) => a.to.localeCompare(b.to));
}

/** A second process of the service, without its front door. */
function another(gatherMs = 60_000) {
  return createModelMismatches({ pool: app.pool, log: { warn() {} }, gatherMs });
}

const sighting = (reported: string, more: { requestId?: string; upstream?: string } = {}) => ({
  requestId: '0190b1a2-0000-7000-8000-000000000001',
  model: 'on-messages',
  upstream: 'vendor-messages',
  asked: vendorModel,
  reported,
  ...more,
});

describe('through the front door', () => {
  it('another model leaves a row, whatever the client and the upstream speak, streamed or not', async () => {
    const seen = await Promise.all(
      directions.map(async (direction, index) => {
        const reported = `another-${String(index).padStart(2, '0')}`;
        const got = await ask(app, direction, `[[say hello]][[model ${reported}]]`);
        expect([direction.name, got.status]).toEqual([direction.name, 200]);
        return expect.objectContaining({
          model: direction.model,
          upstream: `vendor-${direction.upstream}`,
          asked: vendorModel,
          reported,
          count: 1n,
          last_request_id: got.headers.get('x-request-id'),
          closed_at: null,
          closed_by: null,
        });
      }),
    );
    await until(async () => (await total()) === directions.length);
    const written = await rows();
    expect(written.toSorted((a, b) => a.reported.localeCompare(b.reported))).toEqual(seen);
  });

  it('a dated name of the same model leaves none, and rings nothing', async () => {
    const [direction] = directions;
    if (direction === undefined) throw new Error('no direction');
    for (const name of [
      vendorModel,
      `${vendorModel}-2026-05-01`,
      `${vendorModel}@20260501`,
      `reseller/${vendorModel}`,
    ]) {
      await ask(app, direction, `[[say hello]][[model ${name}]]`);
    }
    // What comes after them is written with whatever they left.
    await ask(app, direction, '[[say hello]][[model quite-another-model]]');
    await until(async () => (await rows()).length > 0);
    expect((await rows()).map(({ reported }) => reported)).toEqual(['quite-another-model']);
  });

  it('many answers at once are one row, and each operator is told once, in their language', async () => {
    const some = directions.filter(({ upstream }) => upstream === 'messages');
    const asks = [...some, ...some, ...some];
    await Promise.all(asks.map((direction) => ask(app, direction, '[[say hello]][[model cheaper-model]]')));
    await until(async () => (await total()) === asks.length);
    expect(await rows()).toHaveLength(1);
    const mails = await mailRun();
    expect(mails.map(({ to }) => to)).toEqual(operators.map(({ email }) => email));
    for (const mail of mails) {
      for (const fact of ['on-messages', 'vendor-messages', vendorModel, 'cheaper-model', booksUrl]) {
        expect(mail.text).toContain(fact);
      }
      expect(mail.links).toEqual([booksUrl]);
    }
    expect(mails[0]?.subject).toContain('another model');
    expect(mails[1]?.subject).toContain('model khác');
    await ask(app, some[0] as (typeof some)[0], '[[say hello]][[model cheaper-model]]');
    await until(async () => (await total()) === asks.length + 1);
    expect(await mailRun()).toEqual([]);
  });

  it('text that is no name is not kept: not in the database, a log or a mail', async () => {
    const canary = 'CANARY-told-in-confidence';
    const [direction] = directions;
    if (direction === undefined) throw new Error('no direction');
    const lines = app.logged.length;
    await ask(app, direction, `[[say hello]][[model ${canary} and then some]]`);
    await ask(app, direction, `[[say hello]][[model ${`${canary}-`.repeat(40)}]]`);
    await until(async () => (await total()) === 2);
    expect((await rows()).map(({ reported }) => reported)).toEqual(['(no name)']);
    expect(app.logged.slice(lines).join('\n')).not.toContain('CANARY');
    const mails = await mailRun();
    expect(mails).toHaveLength(2);
    expect(JSON.stringify(mails)).not.toContain('CANARY');
  });

  it('what is not written yet when the process ends is written then', async () => {
    const beside = await startApp({ beside: app, env: {} });
    const [direction] = directions;
    if (direction === undefined) throw new Error('no direction');
    await ask(beside, direction, '[[say hello]][[model last-words]]');
    await beside.close();
    expect((await rows()).map(({ reported }) => reported)).toEqual(['last-words']);
  });
});

describe('what may be stored of a name', () => {
  it.each([
    'gpt-5.1-mini',
    'anthropic/claude-opus-4.6:beta',
    'models/x@20260501',
    'o3',
    `${'a'.repeat(24)}-1`,
    'Qwen3+tools',
    'cognitivecomputations/dolphin-2.9',
    '20260501123456ab',
  ])('%s is a name', (name) => {
    expect(storableName(name)).toBe(name);
  });

  it.each([
    '',
    ' ',
    'two words',
    // What an answer may consist of.
    'yes',
    'Nguyen',
    'a',
    'a'.repeat(24),
    'line\nbreak',
    '<script>',
    '-x',
    'x'.repeat(25),
    'canary-answer-3f9a1c7be2d4058b6a',
    `${'9'.repeat(16)}a`,
    'a-'.repeat(50) + 'b',
    'tên',
    'nul\0',
    'sk-proj-Zm9vYmFyYmF6cXV1eGZvb2Jhcg0123456789',
    "x' OR 1",
  ])('%j is none', (text) => {
    expect(storableName(text)).toBe('(no name)');
  });

  it('the database refuses what the process would not store', async () => {
    for (const reported of ['two words', '', 'a'.repeat(101)]) {
      await expect(
        app.pool.query(
          `INSERT INTO model_mismatch (id, model, upstream, asked, reported, count, last_request_id, first_seen_at, last_seen_at)
           VALUES (gen_random_uuid(), 'm', 'u', 'a', $1, 1, gen_random_uuid(), now(), now())`,
          [reported],
        ),
      ).rejects.toThrow(/mismatch_reported/);
    }
  });
});

describe('counting', () => {
  it('costs no statement for each request', async () => {
    const texts: string[] = [];
    const counting = createModelMismatches({
      pool: new Proxy(app.pool, {
        get(pool, name) {
          if (name === 'connect') texts.push('connect');
          const value = Reflect.get(pool, name) as unknown;
          return typeof value === 'function' ? value.bind(pool) : value;
        },
      }),
      log: { warn() {} },
      gatherMs: 60_000,
    });
    for (let index = 0; index < 1_000; index += 1) counting.note(sighting('hot-1'));
    expect(texts).toEqual([]);
    await counting.flush();
    expect(texts).toEqual(['connect']);
    expect(await rows()).toMatchObject([{ reported: 'hot-1', count: 1_000n }]);
    await counting.close();
  });

  it('several processes add up', async () => {
    const processes = [another(), another(), another()];
    for (const one of processes) for (let index = 0; index < 5; index += 1) one.note(sighting('shared-1'));
    await Promise.all(processes.map((one) => one.close()));
    expect(await rows()).toMatchObject([{ reported: 'shared-1', count: 15n }]);
    expect((await mailRun()).length).toBe(operators.length);
  });

  it('a route that reports ever new names fills neither the table nor mailboxes', async () => {
    const one = another();
    for (let index = 0; index < 300; index += 1) one.note(sighting(`name-${index}`));
    one.note(sighting('elsewhere', { upstream: 'other' }));
    await one.close();
    const two = another();
    two.note(sighting('name-0'));
    for (let index = 300; index < 600; index += 1) two.note(sighting(`name-${index}`));
    await two.close();
    const written = (await rows()).filter(({ upstream }) => upstream === 'vendor-messages');
    expect(written).toHaveLength(maxNames + 1);
    expect(await total()).toBe(602);
    expect(written.find(({ reported }) => reported === '(other names)')?.count).toBe(580n);
    expect(written.find(({ reported }) => reported === 'name-0')?.count).toBe(2n);
    const mails = await mailRun();
    expect(mails).toHaveLength(operators.length);
    expect(mails[0]?.text).toContain('and 2 more');
  });

  it('keeps what a failing database did not take, and says so without what was reported', async () => {
    const state = { away: true };
    const warnings: object[] = [];
    const one = createModelMismatches({
      pool: new Proxy(app.pool, {
        get(pool, name) {
          if (name === 'connect' && state.away)
            return () => Promise.reject(new Error('the database is away: flaky-name'));
          const value = Reflect.get(pool, name) as unknown;
          return typeof value === 'function' ? value.bind(pool) : value;
        },
      }),
      log: { warn: (fields, message) => void warnings.push({ ...fields, message }) },
      gatherMs: 5,
    });
    one.note(sighting('flaky-name'));
    await until(() => warnings.length > 0);
    one.note(sighting('flaky-name'));
    state.away = false;
    await until(async () => (await total()) === 2);
    expect(JSON.stringify(warnings)).not.toContain('flaky-name');
    await one.close();
  });

  it('a process that ends without a database still ends', async () => {
    const warnings: object[] = [];
    const one = createModelMismatches({
      pool: new Proxy(app.pool, {
        get: (pool, name) => (name === 'connect' ? () => Promise.reject(new Error('away')) : Reflect.get(pool, name)),
      }),
      log: { warn: (fields) => void warnings.push(fields) },
      gatherMs: 60_000,
    });
    one.note(sighting('unwritten'));
    await one.close();
    expect(warnings).toEqual([expect.objectContaining({ mismatches: 1 })]);
  });
});

describe('closing', () => {
  const close = async (id: string) => {
    const one = another();
    const outcome = await one.closeMismatch({ id, actor: 'user:ada' });
    await one.close();
    return outcome;
  };

  it('is kept with who did it; the next sighting opens it again and rings again', async () => {
    const one = another();
    one.note(sighting('comes-back'));
    await one.flush();
    expect(await mailRun()).toHaveLength(operators.length);
    const [row] = await rows();
    const id = row?.id ?? '';
    expect(await close(id)).toMatchObject({ kind: 'closed', mismatch: { id, closedBy: 'user:ada' } });
    expect(await close(id)).toEqual({ kind: 'closed_before' });
    const { rows: audit } = await app.pool.query(`SELECT * FROM audit_entry WHERE subject = $1`, [
      `model_mismatch:${id}`,
    ]);
    expect(audit).toMatchObject([
      { actor: 'user:ada', action: 'model_mismatch.close', before: { reported: 'comes-back' } },
    ]);
    expect(await mailRun()).toEqual([]);
    // Moments are compared with some slack: a sighting right after the closing may be taken for an earlier one.
    await until(async () => {
      one.note(sighting('comes-back'));
      await one.flush();
      return (await rows())[0]?.['closed_at'] === null;
    });
    await one.close();
    expect(await rows()).toMatchObject([{ id, closed_at: null, closed_by: null }]);
    expect(await mailRun()).toHaveLength(operators.length);
    expect(await mailRun()).toEqual([]);
  });

  it('answers from before it do not open it again', async () => {
    const one = another();
    one.note(sighting('late'));
    await one.flush();
    one.note(sighting('late'));
    const [row] = await rows();
    await close(row?.id ?? '');
    await one.close();
    expect(await rows()).toMatchObject([{ count: 2n, closed_by: 'user:ada' }]);
  });

  it('takes back mails that have not left yet', async () => {
    const one = another();
    one.note(sighting('quick'));
    await one.close();
    const [row] = await rows();
    await close(row?.id ?? '');
    expect(await mailRun()).toEqual([]);
  });

  it('what does not exist is told apart', async () => {
    expect(await close('0190b1a2-0000-7000-8000-000000000001')).toEqual({ kind: 'unknown' });
    expect(await close('nonsense')).toEqual({ kind: 'unknown' });
  });
});

describe('mails', () => {
  it('one that fails is tried again by the next runs, and given up after six', async () => {
    const one = another();
    one.note(sighting('unreachable'));
    await one.close();
    for (let run = 0; run < 5; run += 1) expect(await mailRun({ fails: true })).toEqual([]);
    expect(await mailRun()).toHaveLength(operators.length);
    await app.pool.query(`UPDATE model_mismatch_mail SET state = 'due', tries = 5`);
    await mailRun({ fails: true });
    expect(await mailRun()).toEqual([]);
    const { rows: states } = await app.pool.query('SELECT DISTINCT state FROM model_mismatch_mail');
    expect(states).toEqual([{ state: 'failed' }]);
  });

  it('two runs at once send each once', async () => {
    const one = another();
    one.note(sighting('both'));
    await one.close();
    const both = await Promise.all([mailRun(), mailRun()]);
    expect(both.flat()).toHaveLength(operators.length);
  });
});
