/** What pages that the server writes itself have in common: their language, its moments, and text that stays text. */

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

/**
 * Who is written to cannot be asked where they are. Vietnamese is read in Vietnam; the rest of the world is told the
 * time that everybody can convert.
 */
const clocks: Record<Locale, { format: Intl.DateTimeFormat; zone: string }> = {
  en: { format: clockOf('en-US', 'short', 'UTC'), zone: 'UTC' },
  vi: { format: clockOf('vi-VN', '2-digit', 'Asia/Ho_Chi_Minh'), zone: 'giờ Việt Nam' },
};

function clockOf(tag: string, month: 'short' | '2-digit', timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(tag, {
    day: month === '2-digit' ? '2-digit' : 'numeric',
    month,
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  });
}

/** A moment for people, to the minute, with the zone whose clock it is: `19:03 21/11/2026 (giờ Việt Nam)`. */
export function momentText(moment: Date, locale: Locale): string {
  const { format, zone } = clocks[locale];
  return `${format.format(moment)} (${zone})`;
}

/** Text for HTML and XML, in elements and in attributes. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
