import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, createControlPlane } from './support/server.ts';

/** Operations that are sent by the name of their document. */

let server: ControlPlane;
const post = async (body: object) => {
  const reply = await server.app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  });
  return reply.json() as { data?: unknown; errors?: { message: string; extensions: { code: string } }[] };
};

beforeAll(async () => {
  server = await createControlPlane({
    persistedDocuments: new Map([
      ['x-steyg:1.plan', 'query plan($id: String!) { model(modelId: $id) { modelId } }'],
      ['x-steyg:1.mine', '{ models { modelId } }'],
      ['x-steyg:1.deep', `{ models { ${'modelId '.repeat(3_000)} } }`],
    ]),
  });
});
afterAll(() => server.close());

describe('a document that is known', () => {
  it('is answered by its name', async () => {
    expect(await post({ documentId: 'x-steyg:1.mine' })).toEqual({ data: { models: expect.any(Array) } });
  });

  it('permits nothing that its text does not: limits and variables are checked all the same', async () => {
    expect((await post({ documentId: 'x-steyg:1.deep' })).errors?.[0]?.extensions.code).toBe('DOCUMENT_TOO_LARGE');
    const wrong = await post({ documentId: 'x-steyg:1.plan', variables: { id: 7 } });
    expect(wrong.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});

it.each(['x-steyg:2.mine', '__proto__', 'constructor', ''])(
  'the unknown name %j has its own code',
  async (documentId) => {
    const { errors, data } = await post({ documentId });
    expect(data ?? null).toBeNull();
    expect(errors?.[0]?.extensions.code).toBe('PERSISTED_DOCUMENT_NOT_FOUND');
  },
);

it.each([{}, { documentId: 7 }, { documentId: null }, { documentId: ['x-steyg:1.mine'] }])(
  'what names no document is refused: %j',
  async (body) => {
    expect((await post(body)).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  },
);

it('a text goes before a name', async () => {
  expect(await post({ documentId: 'x-steyg:1.mine', query: '{ __typename }' })).toEqual({
    data: { __typename: 'Query' },
  });
});
