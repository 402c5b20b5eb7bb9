/** The catalog files that come with the service: each loads through the real command, and every model of it answers. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { exampleFile, readVendors, vendorIds } from '../../server/catalog/vendors.ts';
import { formatPrice } from '../../server/core/money.ts';
import { windowAt } from '../../server/core/price-clock.ts';
import { secretKeyOf, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

/** The file with the simulator in place of the vendor, which it plays strictly. */
function played(text: string, simulatorUrl: string): string {
  const { upstreams } = parse(text) as { upstreams: { protocol: string; baseUrl: string; profile: string }[] };
  const addresses = new Map(
    upstreams.map(({ protocol, profile, baseUrl }) => [
      `protocol: ${protocol}\n    baseUrl: ${baseUrl}\n`,
      `protocol: ${protocol}\n    baseUrl: ${simulatorUrl}/as/${profile}${protocol === 'messages' ? '' : '/v1'}\n`,
    ]),
  );
  return [...addresses].reduce((file, [theirs, ours]) => file.replaceAll(theirs, ours), text);
}

/** The usual first request of a program, with a cap on its answer, over each client protocol. */
const firstContacts = {
  'chat/completions': { max_tokens: 64, messages: [{ role: 'user', content: '[[say it works]]' }] },
  responses: { max_output_tokens: 64, instructions: 'Be brief.', input: '[[say it works]]' },
};

async function contact(path: keyof typeof firstContacts, model: string, secret: string) {
  const response = await fetch(`${app.baseUrl}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...firstContacts[path] }),
  });
  return { path, status: response.status, text: await response.text() };
}

async function embed(model: string, secret: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${app.baseUrl}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: ['An owl.', 'Two owls.'], dimensions: 16, encoding_format: 'base64' }),
  });
  return { status: response.status, text: await response.text() };
}

async function ask(model: string, secret: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${app.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, max_tokens: 64, messages: [{ role: 'user', content: '[[say it works]]' }] }),
  });
  return { status: response.status, text: await response.text() };
}

describe.each(vendorIds)('the example file of %s', (vendor) => {
  test('says where its prices are from, and on which day they were read', async () => {
    const { source, models } = parse(await readFile(exampleFile(vendor), 'utf8'));
    expect(source.address).toMatch(/^https:\/\//);
    expect(Date.parse(source.date)).toBeLessThanOrEqual(Date.now());
    expect(models.length).toBeGreaterThan(0);
  });

  test('loads through `catalog apply`, and each of its models answers and is charged its price', async () => {
    const text = await readFile(exampleFile(vendor), 'utf8');
    const file = join(app.dataDir, `${vendor}.yaml`);
    await writeFile(file, played(text, app.simulator.url));
    const printed: string[] = [];
    const { keyVariable, models } = (await readVendors()).find(({ id }) => id === vendor) ?? { models: [] };
    const code = await runCommandLine(['catalog', 'apply', file, '--json'], {
      env: {
        DATABASE_URL: app.databaseUrl,
        DATA_DIR: app.dataDir,
        SECRET_KEY: secretKeyOf(app).toString('base64'),
        ALLOW_PRIVATE_UPSTREAMS: '1',
        [keyVariable ?? '']: `key-of-${vendor}`,
      },
      out: (line) => printed.push(line),
      err: (line) => printed.push(line),
    });
    expect({ code, printed: code === 0 ? [] : printed }).toEqual({ code: 0, printed: [] });
    expect(models.length).toBeGreaterThan(0);
    const { secret, accountId } = await app.customer();
    for (const { model, routes, costs } of models) {
      app.simulator.clearRequests();
      const embeds = model.kind === 'embedding';
      const answer = embeds ? await embed(model.id, secret) : await ask(model.id, secret);
      expect(answer).toEqual({ status: 200, text: expect.stringContaining(embeds ? '"embedding"' : 'it works') });
      const [request] = app.simulator.requests();
      const body = JSON.parse(String(request?.body)) as { model: string };
      expect(routes.map(({ upstreamModel }) => upstreamModel)).toContain(body.model);
      expect(JSON.stringify(request?.headers)).toContain(`key-of-${vendor}`);
      // Sold at cost: what is charged is what the vendor charges.
      await app.quiet(accountId);
      const [entry] = await app.ledger(accountId);
      const pricedAt = entry?.['priced_at'] as Date | null;
      expect(pricedAt === null).toBe(costs.clock === undefined);
      const hours = pricedAt && costs.clock ? windowAt(costs.clock, pricedAt.getTime())?.window : null;
      const { input, output } = hours ?? costs;
      expect(entry).toMatchObject({ price_input: input, price_output: output });
      expect(Number(entry?.['cost'])).toBeGreaterThan(0);
      expect(entry?.['upstream_cost']).toBe(entry?.['cost']);
      for (const path of embeds ? [] : (['chat/completions', 'responses'] as const)) {
        const first = await contact(path, model.id, secret);
        expect(first).toEqual({ path, status: 200, text: expect.stringContaining('it works') });
      }
    }
  });
});

test('no vendor sells below its list price, and every price is one that the catalog can say', async () => {
  for (const { models } of await readVendors()) {
    for (const { model, costs } of models) {
      for (const { cacheHit, input, output } of [costs, ...(costs.clock?.windows ?? [])]) {
        expect(cacheHit).toBeLessThan(input);
        expect(output).toBeGreaterThanOrEqual(model.kind === 'embedding' ? 0n : input);
      }
    }
  }
});

test.each([
  ['2026-11-23T00:59:59Z', '0.15', '0.66'],
  ['2026-11-23T01:00:00Z', '0.3', '1.32'],
  ['2026-11-23T04:00:00Z', '0.15', '0.66'],
  ['2026-11-23T06:00:00Z', '0.3', '1.32'],
  ['2026-11-23T10:00:00Z', '0.15', '0.66'],
  ['2026-11-28T01:00:00Z', '0.15', '0.66'],
  ['2026-11-29T08:00:00Z', '0.15', '0.66'],
])('DeepSeek at %s costs %s and %s USD for a million new tokens', async (moment, flash, pro) => {
  const vendor = (await readVendors()).find(({ id }) => id === 'deepseek');
  const inputs = vendor?.models.map(({ costs }) => {
    if (costs.clock === undefined) throw new Error('DeepSeek has peak hours');
    return formatPrice((windowAt(costs.clock, Date.parse(moment))?.window ?? costs).input);
  });
  expect(inputs).toEqual([flash, pro]);
});
