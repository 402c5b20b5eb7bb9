/** The page of data flow: every receiver of what customers send, from the catalog and the settings as they are. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vendorProfiles } from '../../server/catalog/profiles/profiles.ts';
import { dataFlowPage, readDataFlow } from '../../server/pages/docs/data-flow.ts';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  const add = async (id: string, columns: Record<string, string | boolean | null>) => {
    const row = { protocol: 'chat-completions', base_url: `https://${id}.example/v1`, ...columns };
    const names = Object.keys(row);
    await app.pool.query(
      `INSERT INTO upstream (id, ${names.join(', ')}) VALUES ($1, ${names.map((_name, at) => `$${at + 2}`).join(', ')})`,
      [id, ...Object.values(row)],
    );
    const { rows } = await app.pool.query(`SELECT id FROM model WHERE enabled ORDER BY id LIMIT 1`);
    await app.pool.query(
      `INSERT INTO route (id, model_id, upstream_id, upstream_model) VALUES (gen_random_uuid(), $1, $2, 'm')`,
      [rows[0].id, id],
    );
  };
  await add('claude', { profile: 'anthropic', protocol: 'messages' });
  await add('claude-2', { profile: 'anthropic', protocol: 'messages' });
  await add('seek', { profile: 'deepseek' });
  await add('router', { profile: 'openrouter' });
  await add('azure', { profile: 'azure' });
  await add('azure-vn', { profile: 'azure', country: 'SG' });
  await add('own', { profile: 'deepseek', recipient: 'FPT <Smart> Cloud', country: 'VN' });
  await add('moved', { profile: 'deepseek', recipient: 'Nobody Known' });
  await add('dark', {});
  await add('off', { profile: 'groq', enabled: false });
});
afterAll(() => app.close());

const settings = {
  retention: { sessionDays: 31, auditDays: 401, attributionDays: 91 },
  einvoices: null,
  transfers: [],
  mail: false,
  signIn: [],
} as const;

describe('the page of data flow', () => {
  it.each([
    [
      'en',
      'China, as others report; not checked: the receiver’s page could not be opened',
      'not stated by the operator',
      'group of regions, that the operator chose',
      'any country in which',
    ],
    [
      'vi',
      'Trung Quốc, theo nguồn khác; chưa kiểm tra: không mở được trang của bên nhận',
      'đơn vị vận hành chưa nêu',
      'nhóm khu vực, do đơn vị vận hành chọn',
      'bất kỳ nước nào',
    ],
  ])(
    'names each receiver, where its own page says that it processes requests, and what nobody checked (%s)',
    async (locale, china, unsaid, region, anywhere) => {
      const answer = await fetch(`${app.url}/docs/data-flow?lang=${locale}`);
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(text).toContain(`<html lang="${locale}">`);
      const rows = [
        ...text.matchAll(/<tr><th scope="row">(.*?)<\/th><td>(.*?)<\/td><td>(.*?)<\/td><td>(.*?)<\/td><\/tr>/g),
      ].map(([, name = '', country = '']) => [name.replace(/<br>.*/, ''), country]);
      expect(rows).toEqual([
        ['Anthropic, PBC', expect.stringContaining(anywhere)],
        ['DeepSeek', china],
        ['FPT &#60;Smart&#62; Cloud', new Intl.DisplayNames([locale], { type: 'region' }).of('VN')],
        ['Microsoft (Azure)', expect.stringContaining(region)],
        ['Microsoft (Azure)', 'Singapore'],
        ['Nobody Known', unsaid],
        ['OpenRouter', expect.stringContaining(anywhere)],
        [unsaid, unsaid],
        [expect.stringMatching(/simulated|mô phỏng/), '–'],
      ]);
      expect(text).not.toContain('Groq');
    },
  );

  it('is led to by every page that the server makes, and by the documentation', async () => {
    for (const path of ['/docs', '/pricing', '/status', '/docs/errors']) {
      const text = await (await fetch(`${app.url}${path}?lang=en`)).text();
      expect([path, text.includes('href="/docs/data-flow?lang=en"')]).toEqual([path, true]);
    }
  });

  it('says how long things are kept as the settings have it, and who else receives what', async () => {
    const page = async (changes: object) =>
      dataFlowPage(await readDataFlow(app.pool, { ...settings, ...changes }), 'en').body;
    const plain = await page({});
    for (const part of ['31 days', '401 days', '91 days']) expect(plain).toContain(part);
    for (const name of ['SePay', 'Casso', 'Google', 'mail server']) expect(plain).not.toContain(name);
    const full = await page({ einvoices: 'SePay', transfers: ['Casso'], mail: true, signIn: ['Google', '<b>Own</b>'] });
    for (const name of ['SePay, and through it the tax office', 'Casso', 'mail server', 'Google, &#60;b&#62;Own'])
      expect(full).toContain(name);
  });

  it('names no country of a vendor without a public page that says so, or the word that nobody checked', () => {
    const recipients = Object.values(vendorProfiles).flatMap(({ recipient }) => recipient ?? []);
    expect(recipients.length).toBeGreaterThan(8);
    for (const { place, kept } of recipients) {
      const [page, country] = place.kind === 'unread' ? ['https://', place.reported ?? 'XX'] : [place.page, 'XX'];
      expect(page).toMatch(/^https:\/\//);
      expect(country).toMatch(/^[A-Z]{2}$/);
      expect(kept?.page ?? 'https://').toMatch(/^https:\/\//);
    }
    const text = dataFlowPage({ ...settings, receivers: [] }, 'en').body;
    expect(text).toContain('a lawyer must');
  });
});
