/** The generated parts of the SDK: fresh, and complete for the schema. */

import { readFileSync } from 'node:fs';
import { Steyg } from '@steyg/sdk';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { generate, readOperations } from '../../sdk/generate/main.ts';
import { type JsonSchema, type OpenApiDocument, printRestTypes } from '../../sdk/generate/rest.ts';
import { operationFacts } from '../../sdk/src/generated/console-facts.ts';
import { consoleOperations } from '../../sdk/src/generated/console-operations.ts';
import { parseFacts } from '../../sdk/src/internal/operations.ts';
import { printedDocument } from '../../server/gateway/openapi/print.ts';
import { asked, baseUrl, events, json, ping } from './support.ts';

// Generated files are committed; `npm run generate:sdk` makes them again.

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const document = JSON.parse(readFileSync(at('sdk/openapi.json'), 'utf8')) as OpenApiDocument;

const streams = (steyg: Steyg) => [
  steyg.messages.stream(ping),
  steyg.chat.completions.stream(asked.chat('hi')),
  steyg.responses.stream(asked.responses('hi')),
  steyg.images.generateStream({ model: 'm', prompt: 'hi' }),
  steyg.images.editStream({ model: 'm', prompt: 'hi', images: [{ image_url: 'data:image/png;base64,' }] }),
];

describe('what is committed is fresh', () => {
  it('sdk/openapi.json', () => {
    expect(readFileSync(at('sdk/openapi.json'), 'utf8')).toBe(printedDocument());
  });

  it('sdk/src/generated, twice the same', async () => {
    const files = await generate();
    for (const [path, text] of Object.entries(files)) expect(readFileSync(at(`sdk/${path}`), 'utf8')).toBe(text);
    expect(await generate()).toEqual(files);
  });
});

describe('every REST operation', () => {
  const calls: Record<string, (steyg: Steyg) => unknown> = {
    createMessage: (steyg) => steyg.messages.create(ping),
    countTokens: (steyg) => steyg.messages.countTokens(ping),
    createChatCompletion: (steyg) => steyg.chat.completions.create(asked.chat('hi')),
    createResponse: (steyg) => steyg.responses.create(asked.responses('hi')),
    estimateMessage: (steyg) => steyg.messages.estimate(ping),
    estimateChatCompletion: (steyg) => steyg.chat.completions.estimate(asked.chat('hi')),
    estimateResponse: (steyg) => steyg.responses.estimate(asked.responses('hi')),
    estimateEmbeddings: (steyg) => steyg.embeddings.estimate({ model: 'm', input: 'hi' }),
    createEmbeddings: (steyg) => steyg.embeddings.create({ model: 'm', input: 'hi' }),
    createImages: (steyg) => steyg.images.generate({ model: 'm', prompt: 'hi' }),
    editImages: (steyg) => steyg.images.edit({ model: 'm', prompt: 'hi', images: [{ image_url: 'https://x.test' }] }),
    estimateImages: (steyg) => steyg.images.estimate({ model: 'm', prompt: 'hi' }),
    estimateImageEdits: (steyg) => steyg.images.estimate({ model: 'm', prompt: 'hi', images: [] }),
    listModels: (steyg) => steyg.models.list(),
    retrieveModel: (steyg) => steyg.models.retrieve('a/b c'),
    getUsage: (steyg) => steyg.usage.get({ from: '2026-11-01', limit: 5 }),
    getKey: (steyg) => steyg.key.get(),
    getCredits: (steyg) => steyg.credits.get(),
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
  );

  it('has a method', () => {
    expect(Object.keys(calls).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
  });

  it.each(operations)('$operationId goes to $method $path', async ({ operationId, method, path }) => {
    const seen: string[] = [];
    const steyg = new Steyg({
      baseUrl,
      apiKey: 'k',
      fetch: async (url, init) => {
        seen.push(`${init.method} ${url.split('?')[0]}`);
        return json({ data: [] });
      },
    });
    await calls[operationId]?.(steyg);
    expect(seen).toEqual([`${method.toUpperCase()} ${baseUrl}${path.replace('{id}', 'a%2Fb%20c')}`]);
  });

  it('that streams can be streamed', async () => {
    const streaming = JSON.stringify(document.paths).match(/text\/event-stream/g) ?? [];
    const bodies: unknown[] = [];
    const steyg = new Steyg({
      baseUrl,
      apiKey: 'k',
      fetch: async (_, init) => {
        bodies.push(JSON.parse(init.body as string));
        return events([]);
      },
    });
    await Promise.all(streams(steyg).map((stream) => stream.response()));
    expect(bodies.filter((body) => (body as { stream: unknown }).stream === true)).toHaveLength(streaming.length);
  });
});

describe('every GraphQL operation', () => {
  const schema = buildSchema(readFileSync(at('schema.graphql'), 'utf8'));
  const texts = Object.values(readOperations()).join('\n');
  const asksFor = new Set<string>();
  const info = new TypeInfo(schema);
  visit(
    parse(texts),
    visitWithTypeInfo(info, {
      Field({ name: { value } }) {
        asksFor.add(`${info.getParentType()?.name}.${value}`);
      },
    }),
  );

  const roots = ['Query', 'Mutation', 'Subscription'].flatMap((name) => {
    const type = schema.getType(name);
    return isObjectType(type) ? currentFields(type).map((field) => `${name}.${field.name}`) : [];
  });

  it('of the schema’s roots is asked for by a document', () => {
    expect(roots.length).toBeGreaterThan(30);
    expect(roots.filter((field) => !asksFor.has(field))).toEqual([]);
  });

  // Reached in another way, or so deep that asking for them everywhere would multiply work.
  const leftOut = new Set([
    'Viewer.accounts',
    'Route.entry',
    'Route.upstream',
    'Upstream.routes',
    // Links beside the ids that the documents ask for: an integrator who follows one writes a document of their own.
    'Order.account',
    'LedgerEntry.catalogModel',
    'Done.viewer',
    'SessionsEnded.viewer',
    'Viewer.operator',
  ]);

  it('reaches every field of every type', () => {
    const types = typesInUse(schema).filter(({ name }) => !name.startsWith('__') && !name.endsWith('Error'));
    expect(types.length).toBeGreaterThan(100);
    const fields = types.flatMap((type) => currentFields(type).map(({ name }) => `${type.name}.${name}`));
    // A page has its elements twice, with cursors and without: one of them is enough.
    const otherWay = (field: string) =>
      field.endsWith('.edges') ? asksFor.has(field.replace('.edges', '.nodes')) : asksFor.has(edgesBeside(field));
    expect(fields.filter((field) => !asksFor.has(field) && !leftOut.has(field) && !otherWay(field))).toEqual([]);
  });

  /** The field that makes `nodes`, or a field of an edge, unnecessary. */
  const edgesBeside = (field: string) =>
    field.endsWith('.nodes')
      ? field.replace('.nodes', '.edges')
      : field.replace(/Edge\.(cursor|node)$/, 'Connection.nodes');

  it('takes every argument of the roots', () => {
    const names = new Set(texts.match(/\$\w+/g));
    const missing = ['Query', 'Mutation', 'Subscription'].flatMap((name) => {
      const type = schema.getType(name);
      if (!isObjectType(type)) return [];
      return currentFields(type).flatMap((field) =>
        field.args
          .filter((argument) => !names.has(`$${argument.name}`) && argument.deprecationReason == null)
          .map((argument) => `${field.name}(${argument.name}:)`),
      );
    });
    expect(missing).toEqual([]);
  });

  it('has a method, whose list can be iterated where it is one', () => {
    const steyg = new Steyg({ baseUrl });
    const methods = Object.entries(consoleOperations).flatMap(([domain, operations]) =>
      operations.map((word) => ({ domain, word, name: word.replace(/\W/, '') })),
    );
    const documents = [...texts.matchAll(/^(query|mutation|subscription) (\w+)/gm)].map(
      ([, kind, name]) => `${kind} ${name}`,
    );
    const kindOf = (word: string, name: string) =>
      word.endsWith('~') ? 'subscription' : operationFacts[name]?.includes('!') === true ? 'mutation' : 'query';
    expect(methods.map(({ word, name }) => `${kindOf(word, name)} ${name}`).sort()).toEqual(documents.sort());
    expect(Object.keys(operationFacts).sort()).toEqual(methods.map(({ name }) => name).sort());
    for (const { domain, name } of methods) {
      expect((steyg.console as unknown as Record<string, Record<string, unknown>>)[domain]?.[name]).toBeTypeOf(
        'function',
      );
    }
    // A list that says whether there is more can be iterated; one that does not is cut on purpose.
    const lists = texts.match(/^ {2,}pageInfo \{/gm) ?? [];
    expect(methods.filter(({ word }) => word.endsWith('*'))).toHaveLength(lists.length);
  });

  const facts = Object.entries(operationFacts).map(([name, entry]) => ({ name, ...parseFacts(name, entry) }));

  it('that changes something has the name of its mutation', () => {
    const mutations = facts.filter(({ changes }) => changes);
    expect(mutations.length).toBeGreaterThan(90);
    expect(mutations.filter(({ name, path }) => name !== path)).toEqual([]);
  });

  it('that makes something anew takes an idempotency key, which every call gets', () => {
    const mutation = schema.getMutationType();
    const keyed = (mutation == null ? [] : currentFields(mutation)).filter(({ args }) =>
      args.some((argument) => {
        const type = getNamedType(argument.type);
        return argument.name === 'idempotencyKey' || ('getFields' in type && 'idempotencyKey' in type.getFields());
      }),
    );
    const known = facts.filter(({ idempotencyKey }) => idempotencyKey !== undefined).map(({ path }) => path);
    expect(known.sort()).toEqual(keyed.map(({ name }) => name).sort());
    expect(known).toContain('createKey');
  });
});

function currentFields(type: GraphQLObjectType) {
  return Object.values(type.getFields()).filter(({ deprecationReason }) => deprecationReason == null);
}

/** Object types that a program reaches without anything deprecated. */
function typesInUse(schema: GraphQLSchema): GraphQLObjectType[] {
  const found = new Set<GraphQLObjectType>();
  const open = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
    (type) => type ?? [],
  );
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (found.has(type)) continue;
    found.add(type);
    for (const field of currentFields(type)) {
      const below = getNamedType(field.type);
      if (isObjectType(below)) open.push(below);
      else if (isAbstractType(below)) open.push(...schema.getPossibleTypes(below));
    }
  }
  return [...found];
}

const print = (schema: JsonSchema) =>
  printRestTypes({ paths: {}, components: { schemas: { Thing: schema } } })
    .split('\n\n')[1]
    ?.trimEnd();

describe('the printer of REST types', () => {
  it('prints what the document uses', () => {
    const open = { type: 'object', additionalProperties: {} };
    expect(print({ type: 'string', description: 'A */ B' })).toBe('/** A *\\/ B */\nexport type Thing = string;');
    expect(print({ type: ['integer', 'null'] })).toBe('export type Thing = number | null;');
    expect(print({ anyOf: [{ const: 'a' }, { enum: ['b', 1] }] })).toBe("export type Thing = 'a' | 'b' | 1;");
    expect(print({ type: 'array', items: { type: ['string', 'null'] } })).toBe(
      'export type Thing = (string | null)[];',
    );
    expect(print({ ...open, properties: { 'a-b': {}, c: { $ref: '#/components/schemas/D' } }, required: ['c'] })).toBe(
      "export interface Thing {\n  'a-b'?: unknown;\n  c: D;\n  [member: string]: unknown;\n}",
    );
  });

  it('refuses what it does not know', () => {
    expect(() => print({ allOf: [] })).toThrow('allOf');
    expect(() => print({ type: 'tuple' })).toThrow('tuple');
  });
});
