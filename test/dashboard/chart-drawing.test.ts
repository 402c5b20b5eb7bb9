import { describe, expect, it } from 'vitest';
import { drawingOf, ticks } from '../../dashboard/src/components/chart-drawing.ts';

// Where the parts of a chart stand, and that what is unknown is drawn as no zero.

const starts = Array.from({ length: 4 }, (_each, at) => new Date(Date.UTC(2026, 10, 1 + at)));
const drawn = (kind: 'bars' | 'lines', ...values: (number | null)[][]) =>
  drawingOf({
    starts,
    series: values.map((each) => ({ values: each })),
    kind,
    width: 500,
    height: 200,
    formatValue: String,
    formatStart: (start) => start.toISOString().slice(0, 10),
  });

describe('a chart', () => {
  it('has round marks that span its values, with zero among them', () => {
    expect(ticks(0, 7)).toEqual([0, 2, 4, 6, 8]);
    expect(ticks(0, 0.000046)).toEqual([0, 0.00002, 0.00004, 0.00006]);
    expect(ticks(-3, 10)).toEqual([-5, 0, 5, 10]);
    expect(ticks(0, 0)).toEqual([0]);
  });

  it('stacks bars, losses downwards, and draws neither zero nor what is unknown', () => {
    const { bars, gaps, marks } = drawn('bars', [1, 0, null, 2], [3, 0, null, -1]);
    expect(bars.map(({ color }) => color)).toEqual([0, 1, 0, 1]);
    const [first, second] = bars;
    expect((second?.y ?? 0) + (second?.height ?? 0)).toBeCloseTo(first?.y ?? 0);
    const zero = marks.find(({ text }) => text === '0')?.y ?? 0;
    expect(bars[3]?.y).toBeCloseTo(zero);
    expect(bars[2]?.y).toBeLessThan(zero);
    // Zero is a day of nothing; unknown is hatched.
    expect(gaps).toHaveLength(1);
    expect(drawn('bars', [0, 0, 0, 0]).gaps).toEqual([]);
  });

  it('breaks a line where nothing is known, and keeps a value alone as a dot', () => {
    const { lines } = drawn('lines', [1, null, 2, 3]);
    expect(lines.map(({ path }) => path.includes('L'))).toEqual([false, true]);
    expect(lines[0]?.path).toMatch(/h0\.01$/);
  });

  it('finds the place under a pointer, and none beside the picture', () => {
    const drawing = drawn('bars', [1, 2, 3, 4]);
    for (let at = 0; at < 4; at += 1) expect(drawing.placeAt(drawing.xOf(at))).toBe(at);
    expect(drawing.placeAt(0)).toBeNull();
    expect(drawing.placeAt(499)).toBeNull();
  });
});
