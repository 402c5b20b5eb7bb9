/**
 * Text that people type and other people read: names, labels, addresses. Refused is what cannot be stored (PostgreSQL
 * takes neither NUL nor half a character) and what makes two texts look alike or one look like something else: control
 * characters, invisible ones, and those that turn the reading direction.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]/u;
// Emoji are joined by an invisible character, and that is what it is there for.
const joinedEmoji = /(?<=\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?)\u200D(?=\p{Extended_Pictographic})/gu;

/** What is wrong with a text as a finished clause ("must ..."), or null. `most` counts characters. */
export function textProblem(text: string, most: number): string | null {
  // Cheap first: nothing below looks at a long text.
  if (text.length > most * 2 || Array.from(text).length > most) return `must have at most ${most} characters`;
  if (text.trim() === '') return 'must not be empty';
  if (text !== text.trim()) return 'must not begin or end with a blank';
  if (!text.isWellFormed() || hidden.test(text.replace(joinedEmoji, ''))) {
    return 'must not contain control characters or invisible ones';
  }
  return null;
}
