/** Names and units of what the SDK takes and gives: one style, no silent typing mistake, no amount without its unit. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { GraphqlError, Steyg, verifyReceipt } from '@steyg/sdk';
import { connect, renderConnection } from '@steyg/sdk/connect';
import { doctor } from '@steyg/sdk/doctor';
import { buildSchema, isInputObjectType, parse, typeFromAST } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOperations } from '../../sdk/generate/main.ts';
import { operationQueries } from '../../sdk/src/generated/rest-queries.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { root } from './programs.ts';
import { asked, baseUrl, clientOf, json, ping, scripted } from './support.ts';

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp();
  customer = await app.customer();
});
afterAll(() => app.close());

const misspelled = (name: string) => `${name}${name.at(-1)}`;
/** Loosely: that the types refuse it is not the subject. */
type Loose = (...args: unknown[]) => unknown;

async function errorOf(work: () => unknown): Promise<Error> {
  try {
    const result = work();
    if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result && !('then' in result)) {
      for await (const _ of result as AsyncIterable<unknown>) break;
    } else await result;
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was refused');
}

describe('a mistyped option is refused, with the name that may have been meant', () => {
  const options = { timeoutMss: 1_000 };
  const calls: Record<string, (steyg: Steyg) => unknown> = {
    'messages.create': (steyg) => steyg.messages.create(ping, options as object),
    'messages.stream': (steyg) => steyg.messages.stream(ping, options as object),
    'messages.countTokens': (steyg) => steyg.messages.countTokens(ping, options as object),
    'messages.estimate': (steyg) => steyg.messages.estimate(ping, options as object),
    'chat.completions.create': (steyg) => steyg.chat.completions.create(asked.chat('hi'), options as object),
    'chat.completions.stream': (steyg) => steyg.chat.completions.stream(asked.chat('hi'), options as object),
    'chat.completions.estimate': (steyg) => steyg.chat.completions.estimate(asked.chat('hi'), options as object),
    'responses.create': (steyg) => steyg.responses.create(asked.responses('hi'), options as object),
    'responses.stream': (steyg) => steyg.responses.stream(asked.responses('hi'), options as object),
    'responses.estimate': (steyg) => steyg.responses.estimate(asked.responses('hi'), options as object),
    'embeddings.create': (steyg) => steyg.embeddings.create({ model: 'm', input: 'hi' }, options as object),
    'embeddings.estimate': (steyg) => steyg.embeddings.estimate({ model: 'm', input: 'hi' }, options as object),
    'images.generate': (steyg) => steyg.images.generate({ model: 'm', prompt: 'hi' }, options as object),
    'images.edit': (steyg) => steyg.images.edit({ model: 'm', prompt: 'hi' }, options as object),
    'images.generateStream': (steyg) => steyg.images.generateStream({ model: 'm', prompt: 'hi' }, options as object),
    'images.editStream': (steyg) => steyg.images.editStream({ model: 'm', prompt: 'hi' }, options as object),
    'images.estimate': (steyg) => steyg.images.estimate({ model: 'm', prompt: 'hi' }, options as object),
    'models.list': (steyg) => steyg.models.list(options as object),
    'models.retrieve': (steyg) => steyg.models.retrieve('m', options as object),
    'usage.get': (steyg) => steyg.usage.get({}, options as object),
    'usage.rows': (steyg) => steyg.usage.rows({}, options as object),
    'usage.entry': (steyg) => steyg.usage.entry('id', options as object),
    'usage.of': (steyg) => steyg.usage.of({ user: 'u' }, options as object),
    'key.get': (steyg) => steyg.key.get(options as object),
    'credits.get': (steyg) => steyg.credits.get(options as object),
    graphql: (steyg) => steyg.graphql('{ models { modelId } }', {}, options as object),
    subscribe: (steyg) => steyg.subscribe('subscription { a }', {}, options as object),
  };

  it('of every method', async () => {
    const { steyg, seen } = scripted([json({})]);
    expect(Object.keys(calls)).toEqual(expect.arrayContaining(methodsOf(steyg)));
    for (const [name, call] of Object.entries(calls)) {
      const error = await errorOf(() => call(steyg));
      expect([name, error.name, error.message]).toEqual([
        name,
        'ConfigurationError',
        expect.stringContaining('timeoutMss is no option; there are: signal, timeoutMs'),
      ]);
      expect(error.message).toContain('Did you mean timeoutMs?');
    }
    expect(seen).toEqual([]);
  });

  it('of the client, the connection of tools and the doctor', async () => {
    const settings = { baseUrl, apikey: 'sk' };
    expect((await errorOf(() => new Steyg(settings))).message).toContain('Did you mean apiKey?');
    expect(() => new Steyg({ baseUrl, signal: undefined } as never)).not.toThrow();
    const request = { tool: 'curl', baseUrl, models: { main: 'm' } } as const;
    const mistyped = { ...request, catalogue: [] };
    expect((await errorOf(() => connect(mistyped))).message).toContain('Did you mean catalog?');
    const show = renderConnection as Loose;
    expect((await errorOf(() => show(connect(request), { showkey: true }))).message).toContain('Did you mean showKey?');
    expect((await errorOf(() => (doctor as Loose)({ baseUrl, spned: false }))).message).toContain(
      'Did you mean spend?',
    );
  });

  it.each(operationQueries.getUsage)('of the usage report: %s', async (parameter) => {
    const { steyg, seen } = scripted([json({})]);
    const name = parameter.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const error = await errorOf(() => (steyg.usage.get as Loose)({ [misspelled(name)]: 'x' }));
    expect(error.message).toContain(`Did you mean ${name}?`);
    expect(seen).toEqual([]);
    // The names of before go on working.
    await steyg.usage.get({ [parameter]: 'x' });
    expect(seen[0]?.url).toContain(`?${parameter}=x`);
  });
});

/** Every method of the client but those of the control plane, which are made of its operations. */
function methodsOf(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (path === '' && name === 'console') return [];
    if (typeof member === 'function') return [`${path}${name}`];
    return typeof member === 'object' && member !== null ? methodsOf(member, `${path}${name}.`) : [];
  });
}

const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));

/** Every operation of the control plane with its variables. */
const operations = Object.entries(readOperations()).flatMap(([domain, text]) =>
  parse(text).definitions.flatMap((definition) => {
    if (definition.kind !== 'OperationDefinition') return [];
    const variables = (definition.variableDefinitions ?? []).map(({ variable, type }) => {
      const named = typeFromAST(schema, (type.kind === 'NonNullType' ? type.type : type) as never);
      return { name: variable.name.value, input: isInputObjectType(named) ? named : null };
    });
    return [{ domain, name: definition.name?.value ?? '', variables }];
  }),
);

const methodOf = (steyg: Steyg, { domain, name }: { domain: string; name: string }): Loose =>
  (steyg.console as unknown as Record<string, Record<string, Loose>>)[domain]?.[name] as Loose;

describe('the control plane', () => {
  it('refuses a mistyped variable of every operation before it is sent', async () => {
    const { steyg, seen } = scripted([json({})]);
    expect(operations.length).toBeGreaterThan(100);
    for (const operation of operations) {
      for (const { name } of operation.variables) {
        const error = await errorOf(() => methodOf(steyg, operation)({ [misspelled(name)]: 'x' }));
        expect([operation.name, error.name, error.message]).toEqual([
          operation.name,
          'ConfigurationError',
          expect.stringMatching(/Did you mean \w+\?$/),
        ]);
      }
      const unlike = await errorOf(() => methodOf(steyg, operation)({ rainbows: 'x' }));
      expect(unlike.message).toContain(`rainbows is no variable of ${operation.name}; there are: `);
    }
    expect(seen).toEqual([]);
  });

  it('refuses one of a document of your own', async () => {
    const { steyg } = scripted([json({})]);
    const document = 'query ($cursor : String) { account { ledger(after: $cursor) { totalCount } } }';
    const error = await errorOf(() => steyg.graphql(document, { cursr: 'x' }));
    expect(error.message).toBe('cursr is no variable of the document; there are: cursor. Did you mean cursor?');
  });

  it('is told by the service of every mistyped member of an input', async () => {
    const steyg = clientOf(app, customer, { maxRetries: 0 });
    const inputs = operations.flatMap((operation) =>
      operation.variables.flatMap(({ name, input }) => (input === null ? [] : [{ operation, name, input }])),
    );
    expect(inputs.length).toBeGreaterThan(30);
    for (const { operation, name, input } of inputs) {
      const fields = Object.keys(input.getFields());
      const given = Object.fromEntries(fields.map((field) => [misspelled(field), 'x']));
      const error = await errorOf(() => methodOf(steyg, operation)({ [name]: given }));
      if (!(error instanceof GraphqlError)) throw error;
      expect([operation.name, error.message]).toEqual([operation.name, expect.stringContaining('Did you mean')]);
    }
  });
});

describe('what the service answers about an account', () => {
  it('has every member in camel case, and under no other name', async () => {
    const steyg = clientOf(app, customer);
    await steyg.messages.create(ping);
    await app.quiet(customer.accountId);
    const { data } = await steyg.models.list();
    const report = await steyg.usage.get({ groupBy: 'day,model' });
    const { costUsd } = await steyg.usage.of({ user: 'nobody' });
    const { holdUsd, mostUsd } = await steyg.messages.estimate(ping);
    expect([costUsd, Number(holdUsd) > 0]).toEqual(['0', true]);
    expect(Number(mostUsd)).toBeGreaterThan(0);
    expect(report.balance.freeUsd).toMatch(/^\d/);
    const answers = [
      data,
      report,
      await steyg.key.get(),
      await steyg.credits.get(),
      await steyg.models.retrieve('sim-small'),
    ];
    const names = answers.flatMap(namesIn);
    expect(names.length).toBeGreaterThan(100);
    expect(names.filter((name) => name.includes('_'))).toEqual([]);
  });

  it('is shown by a console and stored in one style', async () => {
    const steyg = clientOf(app, customer);
    const { steyg: facts } = await steyg.messages.create(ping);
    const entry = await steyg.usage.entry(facts.requestId ?? '');
    const text = inspect(entry, { depth: null });
    expect(text).toContain(`costUsd: '${entry.costUsd}'`);
    expect(text).toContain(`inputTokens: ${entry.usage.inputTokens}`);
    expect(text).not.toMatch(/\b[a-z]\w*_\w+'?:/);
    const stored = JSON.parse(JSON.stringify({ ...entry })) as typeof entry;
    expect(stored).toEqual(entry);
    expect(verifyReceipt(stored).matches).toBe(true);
  });

  it("leaves the vendors' answers in the vendors' words", async () => {
    const steyg = clientOf(app, customer);
    const message = await steyg.messages.create(ping);
    expect(Object.keys(message)).not.toContain('stopReason');
    expect(Object.keys(await steyg.messages.countTokens(ping))).toEqual(['input_tokens']);
  });
});

/** The name of every member, at any depth. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(Array.isArray(value) ? [] : [name]),
    ...namesIn(member),
  ]);
}

describe('the declarations that are published', () => {
  /** Amounts of money by their names. Limits of requests, tokens and rates are none. */
  const amountName =
    /(?:usd|vnd|pico|cost|price|charged|balance|budget|spent|granted|held|margin|revenue|credits|amount|^free$|^expired$|^hold$|^paid$|^refund(?!Id))/i;
  /** When, where, how often and of what, not how much. */
  const otherName = /(?:_at|At|Since|Url|Percent|Steps\w*|_tokens|Tokens|Unit)$/;
  const unitInName = /usd|vnd|pico/i;
  const unitInType = /\b(?:UsdAmount|UsdNumber|VndAmount)\b/;
  const plain = /^(?:readonly )?(?:string|number|bigint)(?: \| (?:null|undefined))*$/;

  it('say the unit of every amount, in its name or its type and in a comment', () => {
    const members = globSync('dist/**/*.d.ts', { cwd: join(root, 'sdk') }).flatMap((path) =>
      amountsIn(readFileSync(join(root, 'sdk', path), 'utf8')).map((member) => ({ path, ...member })),
    );
    expect(members.length).toBeGreaterThan(150);
    const unsaid = members.filter(({ name, type, comment }) => {
      if (unitInType.test(type)) return false;
      return !(unitInName.test(name) && /USD|VND/.test(comment));
    });
    expect(unsaid).toEqual([]);
  });

  /** Members with the name of an amount whose type is a plain value or one of the amounts. */
  function amountsIn(text: string): { name: string; type: string; comment: string }[] {
    return [...text.matchAll(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\s*\b(?:readonly )?(\w+)\??: ([^;{}]+);/g)].flatMap(
      ([, comment = '', name = '', type = '']) =>
        // Lines of a batch that expired are counted.
        !(name === 'expired' && type === 'number') &&
        amountName.test(name) &&
        !otherName.test(name) &&
        (plain.test(type) || unitInType.test(type))
          ? [{ name, type, comment }]
          : [],
    );
  }
});
