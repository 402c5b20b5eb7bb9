import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { createFormat, type Format, type Locale } from '../format.ts';
import { recall, rememberForServer } from '../remembered.ts';
import { type Forms, fill, pick } from './fill.ts';
import type { OperatorTexts, Texts } from './texts.ts';

/** The language of the page: its texts and formats. Only the chosen language is loaded. */

interface Language {
  locale: Locale;
  t: Texts;
  format: Format;
  /** The plural form for a number, with the number filled in. */
  count(forms: Forms, n: number | bigint, values?: Record<string, string>): string;
  choose(locale: Locale): void;
}

/** On the operator's pages, with their own texts. */
interface OperatorLanguage extends Language {
  t: Texts & { operator: OperatorTexts };
}

const LanguageContext = createContext<Language | null>(null);
const OperatorLanguageContext = createContext<OperatorLanguage | null>(null);
const storageKey = 'steyg.language';

/** The stored choice, else the browser's first supported language. */
export function preferredLocale(): Locale {
  const chosen = recall(storageKey);
  if (chosen === 'en' || chosen === 'vi') return chosen;
  const spoken = navigator.languages.find((tag) => /^(en|vi)\b/i.test(tag));
  return spoken?.toLowerCase().startsWith('vi') === true ? 'vi' : 'en';
}

export async function loadTexts(locale: Locale): Promise<Texts> {
  return locale === 'vi' ? (await import('./vi.ts')).vi : (await import('./en.ts')).en;
}

export function LanguageProvider({
  initial,
  timeZone,
  children,
}: {
  initial: { locale: Locale; texts: Texts };
  /** Absent: the reader's. */
  timeZone?: string;
  children: ReactNode;
}) {
  const [{ locale, texts }, setLanguage] = useState(initial);

  useEffect(() => {
    document.documentElement.lang = locale;
  }, [locale]);

  // Of two quick choices the second one counts, whichever texts arrive first.
  const latest = useRef(locale);
  const choose = useCallback(async (next: Locale) => {
    latest.current = next;
    rememberForServer(storageKey, next);
    const loaded = await loadTexts(next);
    if (latest.current === next) setLanguage({ locale: next, texts: loaded });
  }, []);

  const language = useMemo<Language>(() => {
    const format = createFormat(locale, timeZone);
    const rules = new Intl.PluralRules(locale);
    return {
      locale,
      t: texts,
      format,
      count: (forms, n, values = {}) => fill(pick(forms, rules.select(Number(n))), { n: format.number(n), ...values }),
      choose: (next) => void choose(next),
    };
  }, [locale, texts, choose, timeZone]);

  return <LanguageContext value={language}>{children}</LanguageContext>;
}

export function useLanguage(): Language {
  const language = use(LanguageContext);
  if (language === null) throw new Error('no language around this');
  return language;
}

const operatorTexts = new Map<Locale, Promise<OperatorTexts>>();

/** Loads the texts once; a failed load is retried by the next caller. */
function loadOperatorTexts(locale: Locale): Promise<OperatorTexts> {
  const known = operatorTexts.get(locale);
  if (known !== undefined) return known;
  const loading =
    locale === 'vi'
      ? import('./operator-vi.ts').then(({ operatorVi }) => operatorVi)
      : import('./operator-en.ts').then(({ operatorEn }) => operatorEn);
  operatorTexts.set(locale, loading);
  loading.catch(() => operatorTexts.delete(locale));
  return loading;
}

/** Around an operator's page: waits for its texts as it waits for the page itself. */
export function OperatorLanguageProvider({ children }: { children: ReactNode }) {
  const language = useLanguage();
  const operator = use(loadOperatorTexts(language.locale));
  const value = useMemo(() => ({ ...language, t: { ...language.t, operator } }), [language, operator]);
  return <OperatorLanguageContext value={value}>{children}</OperatorLanguageContext>;
}

export function useOperatorLanguage(): OperatorLanguage {
  const language = use(OperatorLanguageContext);
  if (language === null) throw new Error('no language of operators around this');
  return language;
}

export { fill };
