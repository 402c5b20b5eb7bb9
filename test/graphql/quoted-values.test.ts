import { type GraphQLInputType, getNamedType, isInputObjectType, isLeafType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSchema } from '../../server/graphql/schema.ts';
import { type ControlPlane, createControlPlane } from './support/server.ts';

/** What a client sent as a value never stands in an answer: it may be a password, and answers are logged on their way. */

let plane: ControlPlane;
let production: ControlPlane;
beforeAll(async () => {
  [plane, production] = await Promise.all([createControlPlane(), createControlPlane({ production: true })]);
});
afterAll(() => Promise.all([plane.close(), production.close()]));

const secret = 'hunter2-hunter2';

/** A value in every shape that JSON has; only `secret` must not come back. */
const shapes: Record<string, unknown> = {
  text: secret,
  list: [secret],
  'list of lists': [[secret, 1]],
  object: { [`a`]: secret },
  'object with a list': { a: [{ b: secret }] },
};

const schema = buildSchema();

/** Every argument of every mutation, with its type. */
const args = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap((field) =>
  field.args.map((arg) => ({ field, arg })),
);

/**
 * The values by documents: the first, a text, alone, because it may be a usable value and is then executed; the others
 * together, few enough that each has its error in the answer.
 */
function inDocuments([text, ...others]: readonly unknown[]): unknown[][] {
  const documents = [[text]];
  for (let at = 0; at < others.length; at += 8) documents.push(others.slice(at, at + 8));
  return documents;
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, item]) => `${key}: ${literal(item)}`)
      .join(', ')} }`;
  return JSON.stringify(value);
}

describe('a value of the wrong type is not quoted', () => {
  it('in any variable of any mutation', async () => {
    expect(args.length).toBeGreaterThan(50);
    const quoted: string[] = [];
    for (const { field, arg } of args) {
      const others = field.args.filter((other) => other !== arg && isRequired(other.type));
      for (const values of inDocuments([...Object.values(shapes), ...nested(arg.type)])) {
        const given = values.map((_value, index) => `$v${index}: ${String(arg.type)}`).join(', ');
        const fields = values.map(
          (_value, index) =>
            `f${index}: ${field.name}(${[
              `${arg.name}: $v${index}`,
              ...others.map((other) => `${other.name}: ${sample(other.type)}`),
            ].join(', ')}) { __typename }`,
        );
        const query = `mutation (${given}) { ${fields.join(' ')} }`;
        const variables = Object.fromEntries(values.map((value, index) => [`v${index}`, value]));
        const answer = await (field.name.length % 2 === 0 ? plane : production).send(query, { variables });
        if (answer.text.includes(secret)) quoted.push(query);
      }
    }
    expect(quoted).toEqual([]);
  });

  it('in the document', async () => {
    const quoted: string[] = [];
    for (const { field, arg } of args) {
      for (const values of inDocuments(Object.values(shapes))) {
        const fields = values.map(
          (value, index) => `f${index}: ${field.name}(${arg.name}: ${literal(value)}) { __typename }`,
        );
        const query = `mutation { ${fields.join(' ')} }`;
        for (const each of [plane, production]) if ((await each.send(query)).text.includes(secret)) quoted.push(query);
      }
    }
    expect(quoted).toEqual([]);
  });

  it('where the document itself is wrong', async () => {
    for (const query of [
      `mutation { signIn(email "${secret}") { __typename } }`,
      `mutation { signIn(input: { email: "a", password: "${secret}" "${secret}" }) { __typename } }`,
      `mutation { signIn(input: { email: """${secret}""" """${secret}""" }) { __typename } }`,
      `"${secret}" mutation { x }`,
      `mutation { signIn(input: { password: "${secret}`,
      `mutation ($p: String = ["${secret}"]) { signIn(input: { email: "a", password: $p }) { __typename } }`,
      `mutation ($p: SignUpInput! = "${secret}") { signUp(input: $p) { __typename } }`,
    ])
      for (const each of [plane, production]) {
        const answer = await each.send(query);
        expect({ query, errors: answer.errors.length }).not.toEqual({ query, errors: 0 });
        expect(answer.text).not.toContain(secret);
      }
  });
});

describe('a variable that cannot be used', () => {
  const signUp = `mutation ($input: SignUpInput!) { signUp(input: $input) { __typename } }`;
  const told = async (query: string, variables: Record<string, unknown>) =>
    (await plane.send(query, { variables })).errors.map(({ message, extensions }) => [message, extensions['code']]);

  it('is named with its place and what is expected there, every problem at once', async () => {
    expect(await told(signUp, { input: { email: 1, password: [secret], nam: 'X' } })).toEqual([
      ['Variable $input has the member "nam", which SignUpInput has not. Did you mean name?', 'BAD_USER_INPUT'],
      ['Variable $input.email must be of type String.', 'BAD_USER_INPUT'],
      ['Variable $input.password must be of type String.', 'BAD_USER_INPUT'],
      ['Variable $input.name is required: String!.', 'BAD_USER_INPUT'],
    ]);
    expect(await told(signUp, {})).toEqual([['Variable $input is required: SignUpInput!.', 'BAD_USER_INPUT']]);
    const give = `mutation ($amount: UsdAmount!) { giveGrant(input: { accountId: "x", amount: $amount, reason: "r" }) { __typename } }`;
    expect((await told(give, { amount: 12.5 }))[0]?.[0]).toContain('decimal string such as "12.5"');
  });

  it('is told with the values of an enum, but not in production', async () => {
    const query = `query ($period: HourOrDay!) { uptime(modelId: "m", from: "2026-01-01", to: "2026-01-02", period: $period) { at } }`;
    const answer = await plane.send(query, { variables: { period: 'week' } });
    expect(answer.errors[0]?.message).toBe('Variable $period must be one of HOUR, DAY.');
    const hidden = await production.send(query, { variables: { period: 'week' } });
    expect(hidden.errors[0]?.message).toBe('Variable $period must be of type HourOrDay.');
  });
});

function isRequired(type: GraphQLInputType): boolean {
  return String(type).endsWith('!');
}

/** Something that stands for a value of this type where the test is about another argument. */
function sample(type: GraphQLInputType): string {
  const text = String(type);
  if (text.startsWith('[')) return '[]';
  const named = getNamedType(type);
  if (named.name === 'Boolean') return 'true';
  if (named.name === 'Int') return '1';
  return isLeafType(named) && ['String', 'ID'].includes(named.name) ? '"x"' : '{}';
}

/** Objects of this input type in which each member in turn has a value that it cannot have. */
function nested(type: GraphQLInputType): unknown[] {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return [];
  return Object.keys(named.getFields()).flatMap((name) => [{ [name]: [[secret]] }, { [name]: { x: secret } }]);
}
