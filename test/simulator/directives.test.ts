/** Parsing of directives. */

import { describe, expect, it } from 'vitest';
import { type Directives, hasDirective, readDirectives } from '../../server/simulator/directives.ts';

function read(text: string): Directives {
  const result = readDirectives(text, true);
  if (!result.ok) throw new Error(result.message);
  return result.directives;
}

function problem(text: string): string | null {
  const result = readDirectives(text, true);
  return result.ok ? null : result.message;
}

describe('reading directives', () => {
  it('finds them wherever they stand in a text, over several lines', () => {
    const directives = read('Please\n[[think first]] then [[say one\ntwo]], thank you [[nousage]]');
    expect(directives).toMatchObject({ think: 'first', say: 'one\ntwo', noUsage: true });
  });

  it('refuses what a vendor alone should say where that is off, and nothing else', () => {
    const off = (text: string) => {
      const result = readDirectives(text, false);
      return result.ok ? null : result.message;
    };
    for (const text of ['[[raw eA==]]', '[[socket eA==]]', '[[headers {"a":"b"}]]', '[[usage {}]]', '[[model other]]'])
      expect([text, off(`[[say a]] ${text}`), problem(text)]).toEqual([
        text,
        expect.stringContaining('SIMULATOR_RAW'),
        null,
      ]);
    expect(off('[[say a]] [[think b]] [[tool f {}]] [[status 500]] [[cut 1]] [[nousage]] [[speed 9]]')).toBeNull();
  });

  it('keeps every blank of a text but the one behind the name', () => {
    expect(read('[[say  a ]]').say).toBe(' a ');
    expect(read('[[say]]').say).toBe('');
  });

  it('turns [[len N]] into N numbered words', () => {
    expect(read('[[len 3]]').say).toBe('w0 w1 w2');
    expect(read('[[len 0]]').say).toBe('');
  });

  it('reads several tools, brackets and quotes inside their input, and an id of their own', () => {
    const { tools } = read(
      '[[tool Bash {"a":[[1]],"b":"]] \\" }"}]][[tool Read]] [[tool Grep {"n":1e2} functions.Grep:0]]',
    );
    expect(tools).toEqual([
      { name: 'Bash', inputJson: '{"a":[[1]],"b":"]] \\" }"}', id: null },
      { name: 'Read', inputJson: '{}', id: null },
      { name: 'Grep', inputJson: '{"n":1e2}', id: 'functions.Grep:0' },
    ]);
  });

  it('reads statuses with and without a sentence', () => {
    expect(read('[[status 529]]').status).toEqual({ code: 529, message: null });
    expect(read('[[status 400 prompt is too long: 9 > 8]]').status).toEqual({
      code: 400,
      message: 'prompt is too long: 9 > 8',
    });
  });

  it('reads the three breaks and lets the earliest of several count', () => {
    expect(read('[[cut 3]]').fault).toEqual({ kind: 'cut', after: 3, how: 'close' });
    expect(read('[[cut 3 reset]]').fault).toEqual({ kind: 'cut', after: 3, how: 'reset' });
    expect(read('[[midfail 2 500]]').fault).toEqual({ kind: 'midfail', after: 2, status: 500 });
    expect(read('[[hang 5]] [[midfail 2]] [[cut 9 end]]').fault).toEqual({ kind: 'midfail', after: 2, status: null });
  });

  it('keeps usage as text, because numbers would not survive a parse', () => {
    expect(read('[[usage {"output_tokens":1e18,"x":[[-1.0]]}]]').usageJson).toBe('{"output_tokens":1e18,"x":[[-1.0]]}');
    expect(read('[[usage null]]').usageJson).toBe('null');
  });

  it('reads headers, bytes, delay, speed and model', () => {
    const directives = read(
      '[[headers {"X-A":"1","Set-Cookie":["a","b"]}]][[raw aGk=]][[socket eW8=]][[delay 20]][[speed 0]][[model other]]',
    );
    expect(directives.headers).toEqual([
      ['x-a', '1'],
      ['set-cookie', ['a', 'b']],
    ]);
    expect(directives.raw?.toString()).toBe('hi');
    expect(directives.socket?.toString()).toBe('yo');
    expect(directives).toMatchObject({ delayMs: 20, tokensPerSecond: Number.POSITIVE_INFINITY, model: 'other' });
  });

  it.each([
    ['[[len ten]]', 'len'],
    ['[[cut]]', 'cut'],
    ['[[cut 1 sideways]]', 'cut'],
    ['[[status 99]]', 'status'],
    ['[[status 600]]', 'status'],
    ['[[tool]]', 'tool'],
    ['[[tool X {"a":}]]', 'tool'],
    ['[[tool X {"a":1]]', 'tool'],
    ['[[usage {]]', 'usage'],
    ['[[headers 1]]', 'headers'],
    ['[[raw ?]]', 'raw'],
    ['[[say never closed', 'say'],
  ])('refuses %s and names the directive', (text, name) => {
    expect(problem(text)).toContain(`[[${name}]]`);
  });

  it('leaves double brackets that are none of its own alone', () => {
    expect(hasDirective('if [[ -f x ]]; then [[sayonara]]')).toBe(false);
    expect(problem('if [[ -f x ]]; then [[sayonara]]')).toBeNull();
  });
});
