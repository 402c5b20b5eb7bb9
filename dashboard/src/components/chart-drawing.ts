/** Where the parts of a chart stand: from figures to coordinates, without a browser. */

interface Asked {
  starts: readonly Date[];
  series: readonly { values: readonly (number | null)[] }[];
  kind: 'bars' | 'lines';
  /** In pixels. */
  width: number;
  height: number;
  formatValue: (value: number) => string;
  formatStart: (start: Date) => string;
}

export interface Drawing {
  left: number;
  right: number;
  top: number;
  bottom: number;
  height: number;
  marks: { y: number; text: string }[];
  labels: { x: number; text: string }[];
  bars: { x: number; y: number; width: number; height: number; color: number }[];
  lines: { path: string; color: number; isDot: boolean }[];
  /** Times of which nothing is known, of any series. */
  gaps: { x: number; width: number }[];
  /** The middle of a place. */
  xOf: (at: number) => number;
  /** The place at a distance from the left edge; null: beside the picture. */
  placeAt: (x: number) => number | null;
}

const top = 12;
const below = 28;
/** Pixels of a letter at the size of notes. */
const labelWidth = 7.2;
const perLabel = 90;
/** What a bar takes of its place. */
const filled = 0.72;

export function drawingOf({ starts, series, kind, width, height, formatValue, formatStart }: Asked): Drawing {
  const bottom = height - below;
  const [least, most] = kind === 'bars' ? stackedRange(starts.length, series) : plainRange(series);
  const values = ticks(least, most);
  const texts = values.map(formatValue);
  const left = 16 + labelWidth * Math.max(4, ...texts.map((text) => text.length));
  const right = Math.max(left + 1, width - 18);
  const low = Math.min(least, values[0] ?? 0);
  const high = Math.max(most, values.at(-1) ?? 0) || 1;
  const yOf = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - top);
  const step = (right - left) / Math.max(1, starts.length);
  const xOf = (at: number) => left + (at + 0.5) * step;
  const every = Math.max(1, Math.ceil(starts.length / Math.max(1, Math.floor((right - left) / perLabel))));
  return {
    left,
    right,
    top,
    bottom,
    height,
    marks: values.map((value, index) => ({ y: yOf(value), text: texts[index] ?? '' })),
    labels: starts.flatMap((start, at) =>
      (starts.length - 1 - at) % every === 0 ? [{ x: xOf(at), text: formatStart(start) }] : [],
    ),
    bars: kind === 'bars' ? barsOf(starts.length, series, { xOf, yOf, wide: Math.min(40, step * filled) }) : [],
    lines: kind === 'lines' ? series.flatMap((each, color) => linesOf(each.values, { xOf, yOf, color })) : [],
    gaps: starts.flatMap((_start, at) =>
      series.length > 0 && series.every(({ values: own }) => own[at] === null)
        ? [{ x: left + at * step, width: step }]
        : [],
    ),
    xOf,
    placeAt: (x) => (x < left || x > right ? null : Math.min(starts.length - 1, Math.floor((x - left) / step))),
  };
}

/** Positive values are stacked upwards, negative ones downwards. */
function stackedRange(count: number, series: Asked['series']): [number, number] {
  let least = 0;
  let most = 0;
  for (let at = 0; at < count; at += 1) {
    const values = series.map((each) => each.values[at] ?? 0);
    most = Math.max(
      most,
      values.reduce((sum, value) => sum + Math.max(0, value), 0),
    );
    least = Math.min(
      least,
      values.reduce((sum, value) => sum + Math.min(0, value), 0),
    );
  }
  return [least, most];
}

function plainRange(series: Asked['series']): [number, number] {
  const values = series.flatMap((each) => each.values.filter((value) => value !== null));
  return [Math.min(0, ...values), Math.max(0, ...values)];
}

/** About four round figures that span the values, always with zero. */
export function ticks(least: number, most: number): number[] {
  const span = most - least;
  if (!(span > 0)) return [0];
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(least / step + 1e-9);
  const last = Math.ceil(most / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_each, index) => Number(((first + index) * step).toPrecision(12)));
}

interface Scale {
  xOf: (at: number) => number;
  yOf: (value: number) => number;
}

function barsOf(count: number, series: Asked['series'], { xOf, yOf, wide }: Scale & { wide: number }): Drawing['bars'] {
  const bars: Drawing['bars'] = [];
  for (let at = 0; at < count; at += 1) {
    let up = 0;
    let down = 0;
    for (const [color, { values }] of series.entries()) {
      const value = values[at] ?? 0;
      if (value === 0) continue;
      const from = value > 0 ? up : down;
      if (value > 0) up += value;
      else down += value;
      const [upper, lower] = [yOf(Math.max(from, from + value)), yOf(Math.min(from, from + value))];
      bars.push({ x: xOf(at) - wide / 2, y: upper, width: wide, height: Math.max(1, lower - upper), color });
    }
  }
  return bars;
}

/** A line breaks where nothing is known; a value alone between two gaps is a dot. */
function linesOf(values: readonly (number | null)[], { xOf, yOf, color }: Scale & { color: number }): Drawing['lines'] {
  const runs: string[][] = [[]];
  for (const [at, value] of values.entries()) {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push(`${xOf(at).toFixed(1)} ${yOf(value).toFixed(1)}`);
  }
  return runs
    .filter((run) => run.length > 0)
    .map((run) => ({ path: `M${run.join('L')}${run.length === 1 ? 'h0.01' : ''}`, color, isDot: run.length === 1 }));
}
