import { useCallback, useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useLanguage } from '../language/language.tsx';
import { useDark } from '../theme.tsx';
import { type ChartProps, seriesColors } from './chart.tsx';

/** The drawn part of a chart, for sighted readers; its figures are in a table beside it. */
export default function Bars({ starts, series, period, formatValue }: ChartProps) {
  const { t, format } = useLanguage();
  const totalName = t.common.total;
  const formatStart = useCallback((start: Date) => format.start(start, period), [format, period]);
  const box = useRef<HTMLDivElement>(null);
  const dark = useDark();

  useEffect(() => {
    const element = box.current;
    if (element === null || starts.length === 0) return undefined;
    // The computed colour: a variable's own text may hold both themes.
    const color = (name: string) => {
      element.style.color = `var(${name})`;
      return getComputedStyle(element).color;
    };
    const seconds = starts.map((start) => start.getTime() / 1_000);
    const stacked = stack(series.map(({ values }) => values));
    const spacing = starts.length < 2 ? 86_400 : (seconds[1] ?? 0) - (seconds[0] ?? 0);
    const axis = { stroke: color('--quiet'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
    const tip = document.createElement('div');
    tip.className = 'chart-tip';
    const bars = UPlot.paths.bars?.({ size: [0.72, 40], radius: 0.12 });

    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: element.clientHeight,
        padding: [12, 18, 0, 0],
        legend: { show: false },
        cursor: { drag: { setScale: false }, points: { show: false }, x: true, y: false },
        scales: {
          x: { range: (_plot, min, max) => [min - spacing * 0.6, max + spacing * 0.6] },
          y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 28,
            gap: 6,
            values: (_plot, marks) => labelsOf(marks, seconds, formatStart),
            splits: () => spread(seconds, element.clientWidth),
          },
          {
            ...axis,
            size: (_plot, labels) => 16 + 6.6 * Math.max(4, ...(labels ?? []).map((label) => label.length)),
            values: (_plot, marks) => marks.map(formatValue),
          },
        ],
        series: [
          {},
          // The tallest sum is drawn first; each further one covers its lower part.
          ...stacked.map((_values, index) => ({
            label: series[index]?.label ?? '',
            fill: color(`--series-${index % seriesColors}`),
            width: 0,
            points: { show: false },
            ...(bars === undefined ? {} : { paths: bars }),
          })),
        ].map((each, index, all) => (index === 0 ? each : (all[all.length - index] ?? each))),
        hooks: {
          setCursor: [
            (drawn) => {
              const at = drawn.cursor.idx;
              const start = typeof at === 'number' ? starts[at] : undefined;
              tip.hidden = start === undefined || drawn.cursor.left === undefined || drawn.cursor.left < 0;
              if (tip.hidden || start === undefined || typeof at !== 'number') return;
              const lines = series
                .filter(({ values }) => (values[at] ?? 0) > 0)
                .map(({ label, values }) => `${label}: ${formatValue(values[at] ?? 0)}`);
              const sum = series.reduce((whole, { values }) => whole + (values[at] ?? 0), 0);
              const total = lines.length < 2 ? [] : [`${totalName}: ${formatValue(sum)}`];
              tip.textContent = [formatStart(start), ...lines, ...total].join('\n');
              const left = drawn.cursor.left ?? 0;
              tip.style.translate =
                left > drawn.over.clientWidth / 2 ? `${left - tip.offsetWidth - 12}px` : `${left + 12}px`;
            },
          ],
        },
      },
      [seconds, ...stacked.toReversed()],
      element,
    );
    element.style.removeProperty('color');
    tip.hidden = true;
    plot.over.append(tip);
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
    // The colours come from the theme.
  }, [starts, series, formatStart, formatValue, totalName, dark]);

  return <div ref={box} className="bars" />;
}

/** Each series on top of those before it. */
function stack(rows: readonly (readonly number[])[]): number[][] {
  const sums: number[] = [];
  return rows.map((values) =>
    values.map((value, at) => {
      sums[at] = (sums[at] ?? 0) + value;
      return sums[at];
    }),
  );
}

/** As many labels as have room. */
function spread(seconds: readonly number[], width: number): number[] {
  const step = Math.max(1, Math.ceil(seconds.length / Math.max(1, Math.floor(width / 90))));
  return seconds.filter((_second, index) => (seconds.length - 1 - index) % step === 0);
}

function labelsOf(
  marks: readonly number[],
  seconds: readonly number[],
  formatStart: (start: Date) => string,
): string[] {
  return marks.map((mark) => (seconds.includes(mark) ? formatStart(new Date(mark * 1_000)) : ''));
}
