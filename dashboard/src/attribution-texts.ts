import { type AttributionTexts, attributionTexts } from './language/attribution.ts';
import { useLanguage } from './language/language.tsx';

/** The texts of usage by session, user and tag, in the language of the page. */
export function useAttributionTexts(): AttributionTexts {
  return attributionTexts[useLanguage().locale];
}
