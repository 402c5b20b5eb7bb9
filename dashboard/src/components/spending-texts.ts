import { useLanguage } from '../language/language.tsx';
import { type SpendingTexts, spendingTexts } from '../language/spending.ts';

/** The texts of projects and of members' budgets, in the language of the page. */
export function useSpendingTexts(): SpendingTexts {
  return spendingTexts[useLanguage().locale];
}
