/** Validation of texts that people read. */

import { describe, expect, test } from 'vitest';
import { textProblem } from '../../server/shared/plain-text.ts';

describe('text that people can read', () => {
  test.each([
    'x',
    'My key',
    'Nguyễn Văn A',
    '日本語',
    'Привет',
    'עברית',
    '<script>alert(1)</script>',
    '=HYPERLINK("x")',
    '👩‍👩‍👧‍👦',
    '❤️',
    '👍🏽',
  ])('%s', (text) => {
    expect(textProblem(text, 50)).toBeNull();
  });

  test('is counted in characters, not in code units', () => {
    expect(textProblem('👍'.repeat(10), 10)).toBeNull();
    expect(textProblem('👍'.repeat(11), 10)).toMatch(/at most 10/);
  });
});

describe('text that cannot be stored or hides something', () => {
  test.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['a blank in front', ' x'],
    ['a NUL', 'a\0b'],
    ['a line break', 'a\nb'],
    ['an escape', 'a\u001b[2Jb'],
    ['half a character', 'a\ud800'],
    ['a zero-width space', 'a\u200bb'],
    ['a joiner that joins no emoji', 'a\u200db'],
    ['a turned reading direction', 'a\u202eb'],
    ['an isolate', 'a\u2066b'],
    ['a byte order mark', 'a\ufeffb'],
    ['a soft hyphen', 'a\u00adb'],
    ['a Hangul filler', 'a\u3164b'],
    ['a line separator', 'a\u2028b'],
    ['a megabyte', 'x'.repeat(1_000_000)],
  ])('%s', (_name, text) => {
    expect(textProblem(text, 50)).toMatch(/^must /);
  });
});
