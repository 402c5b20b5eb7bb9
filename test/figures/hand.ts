import type { Locator, Page } from 'playwright-core';

/** What a person's hands do on a page, counted. */

export interface Effort {
  /** Presses of a pointer; a choice in a list is two. */
  clicks: number;
  /** Fields that are filled or pasted into, and shortcuts. */
  keystrokeGroups: number;
  /** What the script waited for the pages and the service; a person's own time comes on top. */
  seconds: number;
}

export interface Hand {
  page: Page;
  click(what: Locator): Promise<void>;
  /** Fills a field; one that does not have the focus is clicked first. */
  type(where: Locator, text: string): Promise<void>;
  /** Chooses in a list: opens it and picks. */
  choose(where: Locator, value: string): Promise<void>;
  /** A shortcut, or Enter. */
  press(keys: string): Promise<void>;
  /** Follows a link of a mail, which opens in a tab of its own: one click. */
  follow(url: string): Promise<void>;
}

/** How long a field that is to get the focus by itself may take. */
const focusMs = 1_000;

/** Runs a task on a page and counts what it takes. */
export async function measure(page: Page, task: (hand: Hand) => Promise<void>): Promise<Effort> {
  let clicks = 0;
  let keystrokeGroups = 0;
  let waited = 0;
  const hand: Hand = {
    page,
    async click(what) {
      clicks += 1;
      await what.click();
    },
    async type(where, text) {
      await where.waitFor();
      // A dialog gives the focus to its first field a moment after it opens, before a person has begun to type.
      const since = performance.now();
      const isFocused = async (): Promise<boolean> => (await where.and(page.locator(':focus')).count()) > 0;
      while (!(await isFocused()) && performance.now() - since < focusMs) await page.waitForTimeout(20);
      if (!(await isFocused())) clicks += 1;
      waited += performance.now() - since;
      keystrokeGroups += 1;
      await where.fill(text);
    },
    async choose(where, value) {
      clicks += 2;
      await where.selectOption(value);
    },
    async press(keys) {
      keystrokeGroups += 1;
      await page.keyboard.press(keys);
    },
    async follow(url) {
      clicks += 1;
      await (await page.context().newPage()).goto(url);
    },
  };
  const begin = performance.now();
  await task(hand);
  return { clicks, keystrokeGroups, seconds: (performance.now() - begin - waited) / 1_000 };
}
