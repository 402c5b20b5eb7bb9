import type { en } from './en.ts';

/** Every text of the page, in one language. English says which there are. */
export type Texts = typeof en;
