/**
 * Validation of text that people type and others read: names, labels, addresses. Refused are characters that PostgreSQL
 * cannot store (NUL, lone surrogates) and those that make texts deceptive: control characters, invisible ones, and
 * those that turn the reading direction.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]/u;
// Emoji are joined by an invisible character, which is allowed for that purpose.
const joinedEmoji = /(?<=\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?)\u200D(?=\p{Extended_Pictographic})/gu;

/** The problem of a text as a finished clause ("must ..."), or null. `max` counts characters. */
export function textProblem(text: string, max: number): string | null {
  // Length first: the checks below never see a long text.
  if (text.length > max * 2 || Array.from(text).length > max) return `must have at most ${max} characters`;
  if (text.trim() === '') return 'must not be empty';
  if (text !== text.trim()) return 'must not begin or end with a blank';
  if (!text.isWellFormed() || hidden.test(text.replace(joinedEmoji, ''))) {
    return 'must not contain control characters or invisible ones';
  }
  return null;
}
