import type { Page } from 'playwright-core';

/** What a visitor waits for and sees move, as the browser itself reports it. */

export interface Vitals {
  /** First and largest contentful paint, in milliseconds since the navigation; null: not yet. */
  fcpMs: number | null;
  lcpMs: number | null;
  /** Cumulative layout shift: the worst session window (at most 5 s, gaps below 1 s), without shifts after input. */
  cls: number;
  /** What tasks took beyond 50 ms each after the first paint: total blocking time, in milliseconds. */
  tbtMs: number;
  /** What shifted, for a reader who has to mend it. */
  moved: string[];
}

/** Records from the next navigation on. */
export async function recordVitals(page: Page): Promise<void> {
  await page.addInitScript(`
    globalThis.vitals = { fcp: null, lcp: null, shifts: [], tasks: [], moved: [] };
    const observe = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
    observe('paint', (entry) => { if (entry.name === 'first-contentful-paint') vitals.fcp = entry.startTime; });
    observe('largest-contentful-paint', (entry) => { vitals.lcp = entry.startTime; });
    observe('longtask', (entry) => { vitals.tasks.push({ at: entry.startTime, duration: entry.duration }); });
    observe('layout-shift', (entry) => {
      if (entry.hadRecentInput) return;
      vitals.shifts.push({ at: entry.startTime, value: entry.value });
      for (const { node, previousRect, currentRect } of entry.sources)
        vitals.moved.push(entry.value.toFixed(4) + ' ' + ((node && (node.outerHTML || node.textContent)) || '').slice(0, 100) + ' ' + JSON.stringify([previousRect, currentRect].map(({ x, y, width, height }) => [x, y, width, height].map(Math.round))));
    });`);
}

/** The figures of the page as it is now. */
export function readVitals(page: Page): Promise<Vitals> {
  return page.evaluate(`(() => {
    const { fcp, lcp, shifts, tasks, moved } = vitals;
    let worst = 0, sum = 0, first = -Infinity, last = -Infinity;
    for (const { at, value } of shifts) {
      const joins = at - last < 1000 && at - first < 5000;
      sum = joins ? sum + value : value;
      if (!joins) first = at;
      last = at;
      worst = Math.max(worst, sum);
    }
    const tbtMs = tasks.filter(({ at }) => fcp !== null && at >= fcp).reduce((all, { duration }) => all + duration - 50, 0);
    return { fcpMs: fcp, lcpMs: lcp, cls: worst, tbtMs, moved };
  })()`) as Promise<Vitals>;
}

/** A phone's connection: 1.6 Mbit/s down, 750 kbit/s up, 150 ms for each way there and back. */
export async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: 1_600_000 / 8,
    uploadThroughput: 750_000 / 8,
  });
}

/** Counts what comes over the wire from now on: bytes of bodies and headers, compressed as they came. */
export async function countBytes(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  return () => bytes;
}
