import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request as undiciRequest } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatPrice } from '../../server/core/money.ts';
import { startApp, type TestApp } from '../support/app.ts';

// The public price pages through the real app: what a reader without script, a search engine and a crawler get.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

async function page(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${app.url}${path}`, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

async function prices(): Promise<{ id: string; input: bigint; output: bigint }[]> {
  const { rows } = await app.pool.query(
    `SELECT m.id, p.input, p.output FROM model m JOIN LATERAL (SELECT input, output FROM price WHERE model_id = m.id
     AND valid_from <= now() ORDER BY valid_from DESC LIMIT 1) p ON true WHERE m.enabled ORDER BY m.id`,
  );
  return rows;
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 12 });

/** A price as the dashboard writes it: exact, with two decimals at least. */
const usd = (price: bigint): string => dollars.format(formatPrice(price) as `${number}`);

describe('the price page', () => {
  it('shows every model at its exact price, without script', async () => {
    const { status, text, headers } = await page('/pricing');
    expect(status).toBe(200);
    const all = await prices();
    expect(all.length).toBeGreaterThan(2);
    for (const { id, input, output } of all) {
      expect(text).toContain(`<code>${id}</code>`);
      expect(text).toContain(`${usd(input)}<`);
      expect(text).toContain(`${usd(output)}<`);
    }
    expect(text).not.toMatch(/<script/);
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'/);
  });

  it('says that nothing is really sold while the bank account is made up, as the status page does', async () => {
    for (const path of ['/pricing', '/status'])
      expect((await page(path, { 'accept-language': 'vi' })).text).toContain('Bản trình diễn');
  });

  it('is in the reader’s language, unless the address says otherwise', async () => {
    const english = await page('/pricing', { 'accept-language': 'fr, en;q=0.5' });
    const vietnamese = await page('/pricing', { 'accept-language': 'vi-VN,vi;q=0.9,en;q=0.8' });
    const chosen = await page('/pricing?lang=en', { 'accept-language': 'vi' });
    expect(english.text).toContain('<html lang="en">');
    expect(vietnamese.text).toContain('<html lang="vi">');
    expect(vietnamese.headers.get('vary')).toMatch(/accept-language/i);
    expect(chosen.text).toContain('<html lang="en">');
  });

  it('finds models by a search and quotes the search safely', async () => {
    const [first, ...others] = await prices();
    const found = await page(`/pricing?q=${encodeURIComponent(String(first?.id))}`);
    expect(found.text).toContain(`<code>${first?.id}</code>`);
    const missing = others.filter(({ id }) => !id.includes(String(first?.id)));
    for (const { id } of missing) expect(found.text).not.toContain(`<code>${id}</code>`);
    const attack = await page(`/pricing?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(attack.text).not.toContain('<script');
    expect(attack.text).toContain('noindex');
  });

  it('puts chosen models side by side', async () => {
    const [first, second] = await prices();
    const { text } = await page(`/pricing?compare=${first?.id}&compare=${second?.id}`);
    expect(text.match(/<th scope="col">/g)).toHaveLength(2);
    expect(text).toContain(usd(first?.output ?? 0n));
    expect(text).toContain(usd(second?.output ?? 0n));
  });

  it('has a title, a description and both languages for search engines', async () => {
    const { text } = await page('/pricing');
    expect(text).toMatch(/<title>[^<]+<\/title>/);
    expect(text).toMatch(/<meta name="description" content="[^"]{50,}">/);
    expect(text).toContain('hreflang="vi"');
    expect(text).toContain('rel="canonical"');
  });
});

describe('a model’s page', () => {
  it('says prices, limits, measurements and requests to copy', async () => {
    const [first] = await prices();
    await app.pool.query(
      `INSERT INTO probe_result (id, model, protocol, mode, started_at, outcome, latency_ms, time_to_first_byte_ms)
       SELECT gen_random_uuid(), $1, 'messages', 'stream', now() - n * interval '1 minute', 'up', n * 10, n
       FROM generate_series(1, 100) n`,
      [first?.id],
    );
    // The list is remembered for a while; another process has read none yet.
    const { text } = await pageOfNewApp(`/pricing/${first?.id}`);
    expect(text).toContain('no data');
    expect(text).toContain('500 ms');
    expect(text).toContain('950 ms');
    for (const path of ['/api/v1/messages', '/api/v1/chat/completions', '/api/v1/responses'])
      expect(text).toContain(path);
    expect(text).toContain(`&#34;model&#34;:&#34;${first?.id}&#34;`);
    expect(text).toMatch(/₫/);
  });

  it('is 404 for a name that is none', async () => {
    const { status, text } = await page('/pricing/no/such-model');
    expect(status).toBe(404);
    expect(text).toContain('There is no model of this name.');
  });
});

async function pageOfNewApp(path: string) {
  const other = await startApp({ beside: app });
  const answer = await fetch(`${other.url}${path}`);
  const text = await answer.text();
  await other.close();
  return { text };
}

describe('search engines', () => {
  it('find every public page by the site map, and are kept from the others', async () => {
    const robots = await page('/robots.txt');
    expect(robots.text).toContain('Disallow: /operator');
    expect(robots.text).toMatch(/Sitemap: .*\/sitemap\.xml/);
    const map = await page('/sitemap.xml');
    const addresses = [...map.text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(
      ([, address = '']) => new URL(address).pathname,
    );
    expect(addresses).toEqual(expect.arrayContaining(['/pricing', '/status', '/api/docs']));
    expect(addresses).toHaveLength(8 + (await prices()).length);
    // The dashboard's own pages are not served here.
    const served = addresses.filter((path) => path !== '/' && path !== '/guides');
    const answers = await Promise.all(served.map(async (path) => [path, (await page(path)).status]));
    expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
  });
});

describe('searches', () => {
  it('are neither kept nor compressed, and limited for a network', async () => {
    const { headers } = await page('/pricing?q=sim', { 'accept-encoding': 'br' });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-encoding')).toBeNull();
    const blank = await page('/pricing?q=%20%09%20');
    expect(blank.headers.get('cache-control')).toMatch(/^public/);
    const answers = await Promise.all(Array.from({ length: 90 }, () => page('/pricing?q=sim')));
    expect(answers.some(({ status }) => status === 429)).toBe(true);
  });
});

describe('weight', () => {
  it.each(['/pricing', '/status', '/api/docs', '/api/openapi.json'])(
    '%s is compressed as the reader takes it',
    async (path) => {
      const raw = async (encoding: string) => {
        const { headers, body } = await undiciRequest(`${app.url}${path}`, {
          headers: { 'accept-encoding': encoding },
        });
        return {
          encoding: headers['content-encoding'],
          vary: headers.vary,
          bytes: Buffer.from(await body.arrayBuffer()),
        };
      };
      const plain = await raw('identity');
      expect(plain.encoding).toBeUndefined();
      expect(String(plain.vary)).toMatch(/accept-encoding/i);
      const brotli = await raw('gzip, br');
      expect(brotli.encoding).toBe('br');
      expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
      expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 2);
      const gzip = await raw('gzip');
      expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
      expect((await raw('br;q=0, gzip;q=0')).encoding).toBeUndefined();
    },
  );
});
