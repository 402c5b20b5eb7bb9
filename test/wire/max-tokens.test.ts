import { array, assert, boolean, constantFrom, nat, option, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UpstreamFeatures } from '../../server/core/features.ts';
import { scanBody } from '../../server/wire/body.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { contextWith } from './fixtures.ts';

/** Natively, the cap on the output of chat completions goes by the name that the upstream takes. */

type Field = UpstreamFeatures['maxTokensField'];

/** What an upstream that takes `field` is sent for this body. */
function sent(raw: string, field: Field, more: Partial<UpstreamFeatures> = {}): string {
  const body = Buffer.from(raw);
  const scan = scanBody(body, 'chat-completions');
  if (!scan.ok) throw new Error(scan.problem.message);
  const context = contextWith({ upstreamModel: 'm' });
  const features = { ...context.features, maxTokensField: field, ...more };
  const request = wireFor('chat-completions', 'chat-completions').request(body, scan.facts, { ...context, features });
  if (!request.ok) throw new Error(request.problem.message);
  return Buffer.from(request.exchange.body).toString();
}

const newer = 'max_completion_tokens' as const;
const older = 'max_tokens' as const;
const rest = '"model":"m","messages":[{"role":"user"}]';

describe('the one name of the cap that the upstream takes', () => {
  test.each<[Field, string, string]>([
    [newer, `{"max_tokens":16,${rest}}`, `{"max_completion_tokens":16,${rest}}`],
    [newer, `{${rest},"max_tokens":16}`, `{${rest},"max_completion_tokens":16}`],
    [newer, `{ ${rest} ,\n"max_tokens" :\t1.6e1 }`, `{ ${rest} ,\n"max_completion_tokens" :\t1.6e1 }`],
    [newer, `{"max\\u005ftokens":16,${rest}}`, `{"max_completion_tokens":16,${rest}}`],
    [newer, `{"max_tokens":null,${rest}}`, `{"max_completion_tokens":null,${rest}}`],
    [newer, `{"max_completion_tokens":16,${rest}}`, `{"max_completion_tokens":16,${rest}}`],
    [newer, `{"max_tokens":99,"max_completion_tokens":16,${rest}}`, `{"max_completion_tokens":16,${rest}}`],
    [newer, `{${rest},"max_completion_tokens":16,"max_tokens":99}`, `{${rest},"max_completion_tokens":16}`],
    [newer, `{"max_tokens":9e1,"max_completion_tokens":null,${rest}}`, `{"max_completion_tokens":9e1,${rest}}`],
    [newer, `{${rest},"max_completion_tokens":null,"max_tokens":90}`, `{${rest},"max_completion_tokens":90}`],
    [newer, `{"max_tokens":null,"max_completion_tokens":null,${rest}}`, `{"max_completion_tokens":null,${rest}}`],
    [older, `{"max_completion_tokens":16,${rest}}`, `{"max_tokens":16,${rest}}`],
    [older, `{"max_tokens":99,"max_completion_tokens":16,${rest}}`, `{"max_tokens":16,${rest}}`],
    [older, `{"max_tokens":99,"max_completion_tokens":null,${rest}}`, `{"max_tokens":99,${rest}}`],
    [older, `{"max_tokens":16,${rest}}`, `{"max_tokens":16,${rest}}`],
    [null, `{"max_tokens":16,${rest}}`, `{"max_tokens":16,${rest}}`],
    [null, `{"max_tokens":9,"max_completion_tokens":6,${rest}}`, `{"max_tokens":9,"max_completion_tokens":6,${rest}}`],
  ])('to an upstream that takes %s: %s', (field, raw, expected) => {
    expect(sent(raw, field)).toBe(expected);
  });

  test('a stream that must not be stored is asked for its usage as well', () => {
    const head = '{"store":false,"stream_options":{"include_usage":true},';
    for (const cap of ['"max_tokens":16', '"max_tokens":99,"max_completion_tokens":16']) {
      const raw = `{${cap},"stream":true,${rest}}`;
      expect(sent(raw, newer, { store: true })).toBe(`${head}"max_completion_tokens":16,"stream":true,${rest}}`);
    }
  });

  test('a cap inside of the content is none', () => {
    const raw = `{"model":"m","messages":[{"role":"user","content":"\\"max_tokens\\":1","max_tokens":2}]}`;
    expect(sent(raw, newer)).toBe(raw);
  });

  test('the cap that sized the hold is sent once, in its own spelling, whatever the body looks like', () => {
    const cap = option(constantFrom('null', '1', '1e3', '12345678901234567890'), { nil: undefined });
    const given = record({ older: cap, newer: cap, escaped: boolean(), stream: boolean(), store: boolean() });
    const order = array(nat(), { minLength: 5, maxLength: 5 });
    assert(
      property(
        given,
        constantFrom(newer, older),
        constantFrom('', ' ', '\n  '),
        order,
        (asked, wanted, blank, places) => {
          const members: [string, string | undefined][] = [
            ['"model"', '"m"'],
            ['"messages"', '[{"role":"user"}]'],
            [asked.escaped ? '"m\\u0061x_tokens"' : '"max_tokens"', asked.older],
            ['"max_completion_tokens"', asked.newer],
            ['"stream"', asked.stream ? 'true' : undefined],
          ];
          const texts = members
            .map(([key, value], index) => ({ key, value, at: places[index] ?? 0 }))
            .filter(({ value }) => value !== undefined)
            .toSorted((one, other) => one.at - other.at)
            .map(({ key, value }) => `${blank}${key}${blank}:${blank}${value}${blank}`);
          const out = sent(`{${texts.join(',')}}`, wanted, { store: asked.store });
          const caps = [asked.newer, asked.older].filter((value) => value !== undefined);
          const value = caps.find((text) => text !== 'null') ?? caps[0];
          expect(JSON.parse(out)).toEqual({
            model: 'm',
            messages: [{ role: 'user' }],
            ...(value === undefined ? {} : { [wanted]: JSON.parse(value) as unknown }),
            ...(asked.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
            ...(asked.store ? { store: false } : {}),
          });
          expect(out).toContain(value ?? '');
          expect(out.match(/tokens"/g)?.length ?? 0).toBe(value === undefined ? 0 : 1);
        },
      ),
    );
  });
});
