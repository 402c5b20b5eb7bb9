/** Reading catalog files: every fault at once, with its line, and never a key. */

import { describe, expect, test } from 'vitest';
import { CatalogFileError, parseCatalogFile } from '../../server/admin/catalog-file.ts';

const environment: Record<string, string> = { VENDOR_KEY: 'sk-from-environment', BAD_KEY: 'two words' };
const surroundings = {
  allowPrivateUpstreams: false,
  vendorKey: (name: string) => (Object.hasOwn(environment, name) ? environment[name] : undefined),
};
const parse = (text: string, allowPrivateUpstreams = false) =>
  parseCatalogFile('catalog.yaml', text, { ...surroundings, allowPrivateUpstreams });

/** `line: where message` of every fault. */
function faultsOf(text: string): string[] {
  try {
    parse(text);
  } catch (error) {
    if (!(error instanceof CatalogFileError)) throw error;
    return error.faults.map(({ line, at, message }) => `${line ?? '-'}: ${at} ${message}`);
  }
  return [];
}

const good = `
upstreams:
  - id: vendor
    protocol: messages
    baseUrl: https://api.example.com/
    apiKeyEnv: VENDOR_KEY
    onDisconnect: drain
    features: { systemRole: keep }
models:
  - id: big-1
    displayName: Big 1
    family: big
    contextWindow: 200000
    maxOutputTokens: 32000
    prices: { input: "3", cacheHit: "0.3", output: "15", cacheWrite1h: "6" }
    allow: [web_search]
    routes:
      - { upstream: vendor, model: vendor-name, priority: 1, weight: 2 }
plans:
  - { id: starter, name: Starter, priceVnd: 250000, budgetUsd: "10", validDays: 30 }
`;

test('a whole file', () => {
  expect(parse(good)).toEqual({
    upstreams: [
      {
        upstream: {
          id: 'vendor',
          protocol: 'messages',
          baseUrl: 'https://api.example.com',
          onDisconnect: 'drain',
          profile: null,
          features: { systemRole: 'keep' },
          recipient: null,
          country: null,
          enabled: true,
        },
        secret: 'sk-from-environment',
      },
    ],
    models: [
      {
        model: {
          id: 'big-1',
          displayName: 'Big 1',
          kind: 'text',
          family: 'big',
          contextWindow: 200_000,
          maxOutputTokens: 32_000,
          allow: ['web_search'],
          capabilities: [],
          efforts: [],
          reasoningTokensPerSecond: null,
          unknownMembers: 'pass',
          enabled: true,
        },
        prices: {
          input: 3_000_000n,
          cacheHit: 300_000n,
          cacheWrite5m: null,
          cacheWrite1h: 6_000_000n,
          output: 15_000_000n,
          tiers: [],
          maxPromptTokens: null,
          perUnit: {},
        },
        routes: [
          {
            upstreamId: 'vendor',
            upstreamModel: 'vendor-name',
            priority: 1,
            weight: 2,
            enabled: true,
            costs: null,
            line: 18,
          },
        ],
      },
    ],
    plans: [
      { id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10_000_000_000_000n, validDays: 30, enabled: true },
    ],
  });
});

test('parts that are not there stay untouched', () => {
  expect(parse('models: []')).toEqual({ upstreams: [], models: [], plans: [] });
  const [entry] = parse(good.replace(/ {4}routes:\n.*\n/, '')).models;
  expect(entry?.routes).toBeNull();
});

test('anchors and aliases are YAML too', () => {
  const text = good
    .replace('prices: {', 'prices: &p {')
    .replace(
      'plans:',
      '  - { id: b, displayName: B, family: b, contextWindow: 1, maxOutputTokens: 1, prices: *p }\nplans:',
    );
  expect(parse(text).models[1]?.prices.input).toBe(3_000_000n);
});

test('every fault is named with its line, all at once', () => {
  const text = `upstreams:
  - id: Vendor
    protocol: smoke-signals
    baseUrl: http://api.example.com
    apiKeyEnv: NOT_SET
    timeout: 5
  - id: local
    protocol: messages
    baseUrl: https://10.0.0.1
models:
  - id: big-1
    displayName: ""
    contextWindow: 0
    maxOutputTokens: 1.5
    prices: { input: "3", cacheHit: "4", output: "1e-3" }
    routes:
      - upstream: vendor
        modle: x
        weight: 0
plans:
  - id: starter
    name: Starter
    priceVnd: "250000"
    budgetUsd: 10
`;
  expect(faultsOf(text)).toEqual([
    expect.stringMatching(/^2: upstreams\[0\]\.id must be/),
    expect.stringMatching(/^3: upstreams\[0\]\.protocol must be one of/),
    expect.stringMatching(/^4: upstreams\[0\]\.baseUrl must begin with https/),
    '5: upstreams[0].apiKeyEnv names "NOT_SET", which is not set',
    '6: upstreams[0].timeout is not known here',
    expect.stringMatching(/^9: upstreams\[1\]\.baseUrl must not be a private/),
    '11: models[0].family is missing',
    '12: models[0].displayName must not be empty',
    expect.stringMatching(/^13: models\[0\]\.contextWindow must be at least 1/),
    expect.stringMatching(/^14: models\[0\]\.maxOutputTokens must be a whole number/),
    expect.stringMatching(/^15: models\[0\]\.prices\.output must be USD/),
    '15: models[0].prices.cacheHit must be lower than the input price (or both 0)',
    '17: models[0].routes[0].model is missing',
    '17: models[0].routes[0].upstream names the upstream "vendor", which is not in this file',
    '18: models[0].routes[0].modle is not known here',
    expect.stringMatching(/^19: models\[0\]\.routes\[0\]\.weight must be at least 1/),
    expect.stringMatching(/^23: plans\[0\]\.priceVnd must be a whole number/),
    expect.stringMatching(/^24: plans\[0\]\.budgetUsd must be USD as text/),
  ]);
});

test('an upstream that names its vendor, which must speak that protocol', () => {
  const named = (profile: string) => good.replace('features: { systemRole: keep }', `profile: ${profile}`);
  expect(parse(named('anthropic')).upstreams[0]?.upstream).toMatchObject({ profile: 'anthropic', features: {} });
  expect(faultsOf(named('openrouter'))).toEqual([
    '8: upstreams[0].profile is a vendor that speaks chat-completions, not messages',
  ]);
  expect(faultsOf(named('nobody'))).toEqual([
    expect.stringMatching(/^8: upstreams\[0\]\.profile must be one of openai-gpt5, /),
  ]);
});

describe('a fault that is found', () => {
  test.each([
    ['a cache hit that is no cheaper', '"0.3"', '"3"', /^15: models\[0\]\.prices\.cacheHit must be lower/],
    ['a dear price', 'input: "3"', 'input: "10000.1"', /^15: models\[0\]\.prices\.input/],
    ['too many decimals', '"0.3"', '"0.0000001"', /^15: models\[0\]\.prices\.cacheHit/],
    ['not a number', '"15"', '.nan', /^15: models\[0\]\.prices\.output/],
    ['a price that YAML took for a number', '"3"', '1e-3', /^15: models\[0\]\.prices\.input/],
    ['a variable that is not set', 'VENDOR_KEY', 'OTHER_KEY', /^6: upstreams\[0\]\.apiKeyEnv names "OTHER_KEY"/],
    [
      'a variable that holds no key',
      'VENDOR_KEY',
      'BAD_KEY',
      /^6: upstreams\[0\]\.apiKeyEnv names "BAD_KEY", which does not/,
    ],
    ['a name of Object’s', 'VENDOR_KEY', 'constructor', /^6: upstreams\[0\]\.apiKeyEnv names "constructor"/],
    [
      'two keys',
      'apiKeyEnv: VENDOR_KEY',
      'apiKeyEnv: VENDOR_KEY\n    apiKey: sk-x',
      /^6: upstreams\[0\]\.apiKeyEnv cannot stand beside/,
    ],
    [
      'a key with a line break',
      'apiKeyEnv: VENDOR_KEY',
      'apiKey: "sk-1\\r\\nhost: x"',
      /^6: upstreams\[0\]\.apiKey must be a key/,
    ],
    [
      'an unknown feature',
      'systemRole: keep',
      'systemRol: keep',
      /^8: upstreams\[0\]\.features\.systemRol is not known/,
    ],
    ['a prefix that clients add', 'id: big-1', 'id: steyg/big-1', /^10: models\[0\]\.id must not begin/],
    ['a capital letter in an id', 'id: big-1', 'id: Big-1', /^10: models\[0\]\.id must be lower-case/],
    ['an unknown part', 'plans:', 'plan:', /^19: plan is not known here/],
    ['a budget of nothing', 'budgetUsd: "10"', 'budgetUsd: "0"', /^20: plans\[0\]\.budgetUsd/],
    ['something that is no list', /models:\n(.|\n)*plans/, 'models: 5\nplans', /^9: models must be a list/],
    ['a NUL in a name', 'Big 1', '"Big\\0"', /^11: models\[0\]\.displayName must not contain/],
  ])('%s', (_name, from, to, fault) => {
    expect(faultsOf(good.replace(from, to))).toEqual([expect.stringMatching(fault)]);
  });

  test('one thing said twice', () => {
    const entry = '  - { id: starter, name: Again, priceVnd: 1, budgetUsd: "1" }\n';
    expect(faultsOf(`${good}${entry}`)).toEqual(['21: plans[1] names a plan that is above already']);
    const route = '      - { upstream: vendor, model: vendor-name }\n';
    expect(faultsOf(good.replace('plans:', `${route}plans:`))).toEqual([
      '19: models[0].routes[1] names a route that is above already',
    ]);
    expect(faultsOf(good.replace('    family: big', '    family: big\n    family: small'))).toEqual([
      '13:  says the same thing twice',
    ]);
  });

  test.each([
    ['nothing', '', '-:  must be a map of upstreams, models and plans'],
    ['a list', '- a', '-:  must be a map of upstreams, models and plans'],
    ['an alias that leads nowhere', 'models: *nowhere', '-:  must be a map of upstreams, models and plans'],
  ])('%s instead of a catalog', (_name, text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  test('text that is no YAML, without quoting it: it may hold a key', () => {
    const text = good.replace('apiKeyEnv: VENDOR_KEY', 'apiKey: "sk-secret');
    const faults = faultsOf(text);
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.join()).not.toContain('sk-secret');
    for (const fault of faults) expect(fault).toMatch(/^\d+: {2}is not valid YAML/);
  });

  test('aliases that multiply without end', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 12; i += 1)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect(faultsOf(lines.join('\n'))).toHaveLength(1);
  });

  test('the sentence for people names the file and the lines', () => {
    expect(() => parse(good.replace('"0.3"', '"3"').replace('validDays: 30', 'validDays: 0'))).toThrow(
      /^The catalog file has 2 faults:\n {2}catalog\.yaml:15 {2}models\[0\]\.prices\.cacheHit .*\n {2}catalog\.yaml:20 {2}plans\[0\]\.validDays /,
    );
  });
});

test('private addresses are allowed where the operator says so', () => {
  const text = good.replace('https://api.example.com/', 'http://127.0.0.1:9000');
  expect(parse(text, true).upstreams[0]?.upstream.baseUrl).toBe('http://127.0.0.1:9000');
  expect(faultsOf(text)).toHaveLength(1);
});
