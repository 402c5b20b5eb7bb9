import type { en } from './en.ts';
import type { operatorEn } from './operator-en.ts';

/** Every text of the page, in one language. English says which there are. */
export type Texts = typeof en;

/** Every text of the operator's pages. */
export type OperatorTexts = typeof operatorEn;
