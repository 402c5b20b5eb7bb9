import type { en } from './en.ts';
import type { operatorEn } from './operator-en.ts';

/** All texts of the page in one language, as types. English defines the set. */
export type Texts = typeof en;

/** Every text of the operator's pages. */
export type OperatorTexts = typeof operatorEn;
