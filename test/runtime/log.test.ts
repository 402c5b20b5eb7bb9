/** The log: the allow-list covers every call, and no request content is written. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, describe as suite } from 'vitest';
import { describe } from '../../server/billing/lane/failure.ts';
import { type Log, logFields } from '../../server/core/log.ts';
import { describeError, describeRequest } from '../../server/runtime/http.ts';
import { createLog } from '../../server/runtime/log.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The names of the fields that a source hands to its log as an object that stands in the call. */
function fieldsLogged(text: string): string[] {
  const calls = /\blog\??\.(?:trace|debug|info|warn|error|fatal)\(\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/g;
  return [...text.matchAll(calls)].flatMap(([, fields = '']) =>
    [...fields.matchAll(/(?:^|,)\s*([A-Za-z]\w*)\s*(?=[:,]|$)/g)].map(([, name = '']) => name),
  );
}

suite('what the server says in its log', () => {
  it('is found in every form', () => {
    const text = `
      log.info({ one }, 'x');
      request.log.warn({ two: f(a, b), ...describeError(error), three }, 'x');
      log?.error(
        { four: four.id, five: { no: 1 } },
        'x',
      );
      log.warn({}, 'x');`;
    expect(fieldsLogged(text)).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  it('has allowed fields only: the types refuse others, also those of values that are spread into a line', () => {
    const log = createLog('silent');
    log.info({ requestId: 'id', count: 1, code: null, where: undefined, amount: 1n }, 'x');
    // @ts-expect-error: no such field
    log.info({ body: 'x' }, 'x');
    // @ts-expect-error: no such field beside one that there is
    log.info({ requestId: 'id', email: 'x' }, 'x');
    const person = { accountId: 'id', email: 'x' };
    // @ts-expect-error: a value with a field that there is not
    log.warn(person, 'x');
    // @ts-expect-error: the same, spread
    log.warn({ ...person, count: 1 }, 'x');
    // @ts-expect-error: objects can carry anything
    log.error({ reason: { text: 'x' } }, 'x');
    // @ts-expect-error: an error's message can quote people
    log.error(new Error('x'), 'x');
    // @ts-expect-error: a line has a sentence
    log.error({});
    const part: Pick<Log, 'warn'> = log;
    // @ts-expect-error: nor through a part of the log
    part.warn({ headers: 'x' }, 'x');
    expect(new Set(logFields).size).toBe(logFields.length);
  });

  it('goes through the typed interface alone, also for the lines of one request', () => {
    const files = globSync('server/**/*.ts', { cwd: root, exclude: (path) => path.includes('generated') });
    const untyped = files.filter((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return /\b(?:request|req|reply|response|app|fastify|scope)\.log\b|fields: (?:object|Record)/.test(text);
    });
    // Where the framework's own log gets the type, and where the allow-list is applied.
    expect(untyped.sort()).toEqual(['server/runtime/http.ts', 'server/runtime/log.ts']);
  });

  it('gets through: a field that is not allowed would vanish without a word', () => {
    const allowedFields: ReadonlySet<string> = new Set(logFields);
    const files = globSync('server/**/*.ts', { cwd: root, exclude: (path) => path.includes('generated') });
    const lost = files.flatMap((path) =>
      fieldsLogged(readFileSync(join(root, path), 'utf8'))
        .filter((name) => !allowedFields.has(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(lost).toEqual([]);
  });

  it('is what the page for operators explains', () => {
    const page = readFileSync(join(root, 'server/README.md'), 'utf8');
    const table = page
      .slice(page.indexOf('## On call'))
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const seen = table.flatMap((line) =>
      [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text),
    );
    const sentences = seen.filter((text) => text !== undefined && /^[a-z]+ [a-z' ]+$/.test(text));
    expect(sentences.length).toBeGreaterThan(10);
    const sources = globSync('server/**/*.ts', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'));
    expect(sentences.filter((sentence) => !sources.some((source) => source.includes(String(sentence))))).toEqual([]);
  });

  it('has the sentence of a database about its schema and settings, and none that quotes a row or a text of a query', () => {
    const said = (code: string, message: string, severity = 'ERROR') => {
      const error = Object.assign(new Error(message), { code, severity });
      return [describe(error).said, describeError(new Error('around it', { cause: error })).said];
    };
    const both = (text: string | undefined) => [text, text];
    const unsupported = 'unsupported ALTER FUNCTION ... SET ... FROM CURRENT for a distributed function';
    expect(said('XX000', unsupported)).toEqual(both(unsupported));
    expect(said('42P01', 'relation "admission_change" does not exist')).toEqual(
      both('relation "admission_change" does not exist'),
    );
    expect(said('42601', `unterminated quoted string at or near "'what a customer wrote`)).toEqual(
      both('unterminated quoted string at or near "…'),
    );
    expect(said('42601', `syntax error in 'what a customer wrote' near "x"\nand in a second line`)).toEqual(
      both('syntax error in … near "x"'),
    );
    for (const [code, message] of [
      ['23505', 'Key (email)=(somebody@example.com) already exists.'],
      ['22P02', 'invalid input syntax for type uuid: "what a customer wrote"'],
      ['P0001', 'transfer 7 cannot pay an order'],
    ] as const) {
      expect(said(code, message)).toEqual(both(undefined));
    }
    // As Prisma wraps it: https://www.prisma.io/docs/orm/reference/error-reference
    const wrapped = (originalCode: string, originalMessage: string) =>
      Object.assign(new Error('what a customer wrote'), {
        code: 'P2010',
        meta: { driverAdapterError: { cause: { originalCode, originalMessage } } },
      });
    expect(describeError(wrapped('42703', 'column plan.name does not exist')).said).toBe(
      'column plan.name does not exist',
    );
    expect(describeError(wrapped('23505', 'Key (email)=(somebody@example.com) already exists.')).said).toBeUndefined();
    // A system's error, and a class that only looks like one of a database.
    expect(describeError(Object.assign(new Error('what a customer wrote'), { code: '42601' })).said).toBeUndefined();
    expect(said('42', 'what a customer wrote')).toEqual(both(undefined));
  });

  it('of an error and of a request gets through whole', () => {
    const broken = Object.assign(new RangeError('what a customer wrote'), { code: '23514', constraint: 'grant_cap' });
    const [line, ...others] = logged((log) =>
      log.error({ ...describe(broken), ...describeError(broken), ...describeRequest({ method: 'GET' }) }, 'x'),
    );
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      error: 'RangeError',
      kind: 'RangeError',
      code: '23514',
      constraint: 'grant_cap',
      method: 'GET',
      route: 'unknown',
    });
    expect(JSON.stringify(line)).not.toContain('customer');
    const copy = { code: 'ECONNREFUSED', message: 'what a customer wrote' };
    expect([copy, null, undefined, 'text'].map(describeError)).toEqual([
      { kind: 'object', code: 'ECONNREFUSED' },
      { kind: 'object' },
      { kind: 'undefined' },
      { kind: 'string' },
    ]);
  });
});

function logged(work: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLog('trace', { write: (line: string) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
