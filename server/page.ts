/** What pages that the server writes itself have in common: their language, and text that stays text. */

export type Locale = 'en' | 'vi';

/**
 * The language of a page: what the address asks for, else the first of the two that the browser would rather read,
 * else English.
 */
export function chooseLocale(asked: unknown, acceptLanguage: string | undefined): Locale {
  if (asked === 'en' || asked === 'vi') return asked;
  const wishes = (acceptLanguage ?? '')
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
      const quality = parameters
        .map((parameter) => /^\s*q=([01](?:\.\d{1,3})?)\s*$/.exec(parameter)?.[1])
        .find(Boolean);
      return { language: tag.split('-')[0], quality: Number(quality ?? 1) };
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  const first = wishes.find(({ language }) => language === 'en' || language === 'vi');
  return first?.language === 'vi' ? 'vi' : 'en';
}

/** Text for HTML and XML, in elements and in attributes. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
