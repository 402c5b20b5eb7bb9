import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProbeCommand } from '../../server/uptime/probes/command.ts';
import { createProbeAccount, createProbeRound } from '../../server/uptime/probes/round.ts';
import { createUptime, type Uptime } from '../../server/uptime/uptime.ts';
import { startApp, type TestApp } from '../support/app.ts';

// Rounds of probes against the real service: its public address, its simulator, its ledger.

let service: TestApp;
let uptime: Uptime;

beforeAll(async () => {
  service = await startApp();
  uptime = createUptime({ pool: service.pool });
});
afterAll(() => service.close());

const probeAccount = () => createProbeAccount({ accounts: service.accounts, keys: service.keys });

describe('a round of probes', () => {
  it('finds every model up over every protocol and in both modes, paid for by an account of its own', async () => {
    const round = createProbeRound({ uptime, account: probeAccount(), baseUrl: service.baseUrl });
    const results = await round();
    const models = await uptime.models();
    expect(models.length).toBeGreaterThan(0);
    expect(results).toHaveLength(models.length * 6);
    expect(results.filter(({ outcome }) => outcome !== 'up')).toEqual([]);

    const account = await service.accounts.find('uptime-probe@steyg.invalid');
    expect(account?.kind).toBe('probe');
    const entries = await service.ledger(account?.id ?? '');
    expect(entries).toHaveLength(results.length);

    const report = await uptime.report();
    expect(report.state).toBe('up');
    for (const model of report.models) expect(model).toMatchObject({ state: 'up', simulated: true });
    const page = await fetch(`${service.url}/status.json`);
    expect(await page.json()).toMatchObject({ object: 'status', models: models.map((id) => ({ id })) });
  });

  it('makes one account and one grant a month, whichever process begins', async () => {
    await Promise.all(Array.from({ length: 4 }, () => probeAccount().key()));
    const account = await service.accounts.find('uptime-probe@steyg.invalid');
    const { rows } = await service.pool.query('SELECT kind FROM "grant" WHERE account_id = $1', [account?.id]);
    expect(rows).toEqual([{ kind: 'adjustment' }]);
  });

  it('with a key that was deleted has no data, and another key the next time', async () => {
    const account = probeAccount();
    await account.key();
    const found = await service.accounts.find('uptime-probe@steyg.invalid');
    for (const { id } of await service.keys.list(found?.id ?? ''))
      await service.keys.delete({ accountId: found?.id ?? '', id, actor: 'system' });
    const round = createProbeRound({ uptime, account, baseUrl: service.baseUrl, protocols: ['messages'] });
    expect(new Set((await round()).map(({ outcome }) => outcome))).toEqual(new Set(['no_data']));
    expect(new Set((await round()).map(({ outcome }) => outcome))).toEqual(new Set(['up']));
  });

  it('without budget has no data, which is not downtime', async () => {
    const found = await service.accounts.find('uptime-probe@steyg.invalid');
    await service.quiet(found?.id ?? '');
    await service.pool.query(`UPDATE "grant" SET expires_at = now() - interval '1 minute' WHERE account_id = $1`, [
      found?.id,
    ]);
    const before = await uptime.report();
    const results = await createProbeRound({
      uptime,
      account: probeAccount(),
      baseUrl: service.baseUrl,
      protocols: ['chat-completions'],
    })();
    expect(new Set(results.map(({ reason }) => reason))).toEqual(new Set(['status_402']));
    const after = await uptime.report();
    const downs = (report: typeof after) => report.models.map(({ last24Hours }) => last24Hours.down);
    expect(downs(after)).toEqual(downs(before));
  });

  it('that is interrupted records what it found and nothing else', async () => {
    const controller = new AbortController();
    const recorded: number[] = [];
    const round = createProbeRound({
      account: { key: async () => 'sk-nothing', forgetKey() {} },
      baseUrl: service.baseUrl,
      uptime: {
        models: async () => Array.from({ length: 200 }, (_, i) => `model-${i}`),
        record: async (results) => void recorded.push(results.length),
        endAbandoned: async () => controller.abort(),
      },
    });
    const running = round(controller.signal);
    controller.abort();
    await expect(running).rejects.toThrow('aborted');
    expect(recorded).toHaveLength(1);
    expect(recorded[0]).toBeLessThan(1_200);
  });
});

it('the probe command works with a customer’s key and nothing else', async () => {
  const { secret } = await service.customer();
  const lines: string[] = [];
  const code = await runProbeCommand(
    ['--base-url', service.baseUrl],
    { STEYG_API_KEY: secret },
    {
      out: (line) => void lines.push(line),
      error: (line) => void lines.push(line),
    },
  );
  expect(code).toBe(0);
  expect(lines.length).toBe((await uptime.models()).length * 6);
  for (const line of lines) expect(line).toMatch(/^up /);
});
