/** Charts over time: stacked bars or lines in plain SVG, with their figures to hear, as a table and as a file. */

import { useEffect, useId, useRef, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import type { Period } from '../usage.ts';
import { type Drawing, drawingOf } from './chart-drawing.ts';
import { saveCsv } from './csv.ts';
import { LoadingSkeleton } from './states.tsx';
import { Table } from './table.tsx';

export interface Series {
  label: string;
  /** One for each start. Null: nothing is known of that time, which is no zero: bars leave it out, lines break. */
  values: readonly (number | null)[];
}

export interface ChartProps {
  label: string;
  /** When each bar begins. */
  starts: readonly Date[];
  series: readonly Series[];
  /** What each bar stands for: it says how its start is written. */
  period: Period;
  formatValue: (value: number) => string;
  /** Bars are stacked: their sum means something. Lines are not: times, shares. */
  kind?: 'bars' | 'lines';
}

/** Colours of a chart's series, in both themes; they repeat after eight. */
export const seriesColors = 8;

/** The placeholder of a chart, of the same size, so that the layout does not shift. */
export function ChartSkeleton({ tall = false }: { tall?: boolean }) {
  return (
    <div className={tall ? 'chart tall' : 'chart'}>
      <div className="bars">
        <LoadingSkeleton height="100%" />
      </div>
    </div>
  );
}

/** A chart with the same figures as a table and a CSV file behind it. */
export function Chart({ tall = false, ...props }: ChartProps & { /** Beside something that is. */ tall?: boolean }) {
  const { t, format } = useLanguage();
  const { label, starts, series, period, formatValue, kind = 'bars' } = props;
  const sums = kind === 'bars' && series.length > 1;
  const total = (at: number) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
  const shown = (value: number | null | undefined) => (value == null ? t.common.noData : formatValue(value));
  const isWorthARow = (at: number) => series.some(({ values }) => values[at] !== null && values[at] !== 0);
  return (
    <figure className={tall ? 'chart tall' : 'chart'}>
      <Drawn {...props} kind={kind} />
      {series.length < 2 ? null : (
        <ul className="legend">
          {series.map((each, index) => (
            <li key={each.label}>
              <i className={`series-${index % seriesColors}`} aria-hidden="true" />
              {each.label}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{t.common.asTable}</summary>
        <button
          type="button"
          className="button small"
          aria-label={`${label}, CSV`}
          onClick={() =>
            saveCsv(label, [
              [t.common.when, ...series.map((each) => each.label)],
              ...starts.map((start, at) => [start.toISOString(), ...series.map(({ values }) => values[at] ?? null)]),
            ])
          }
        >
          CSV
        </button>
        <Table
          caption={label}
          rows={starts.map((start, at) => ({ start, at })).filter(({ at }) => isWorthARow(at))}
          rowKey={({ start }) => start.toISOString()}
          columns={[
            { head: t.common.when, cell: ({ start }) => format.start(start, period), names: true },
            ...series.map((each) => ({
              head: each.label,
              figure: true,
              cell: ({ at }: { at: number }) => shown(each.values[at]),
            })),
            ...(sums
              ? [{ head: t.common.total, figure: true, cell: ({ at }: { at: number }) => formatValue(total(at)) }]
              : []),
          ]}
        />
      </details>
    </figure>
  );
}

/** The width of an element as it is now; its window may change it. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}

/**
 * The picture. It is a slider over time: the arrow keys and the pointer move it, and where it stands is said in words,
 * for those who see the picture as for those who hear it.
 */
function Drawn({ label, starts, series, period, formatValue, kind = 'bars' }: ChartProps) {
  const { t, format } = useLanguage();
  const { box, width } = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const pattern = useId();
  const last = starts.length - 1;
  const words = (place: number): string[] => {
    const start = starts[place];
    if (start === undefined) return [];
    const known = series.filter(({ values }) => values[place] != null);
    const lines = known
      .filter(({ values }) => kind === 'lines' || values[place] !== 0)
      .map(({ label: name, values }) => `${name}: ${formatValue(values[place] ?? 0)}`);
    const sum = known.reduce((whole, { values }) => whole + (values[place] ?? 0), 0);
    const total = kind === 'bars' && lines.length !== 1 ? [`${t.common.total}: ${formatValue(sum)}`] : [];
    return [format.start(start, period), ...(known.length === 0 ? [t.common.noData] : [...lines, ...total])];
  };
  const move = (place: number) => setAt(Math.min(last, Math.max(0, place)));
  const isTall = (box.current?.clientHeight ?? 0) || 220;
  const drawing = drawingOf({
    starts,
    series,
    kind,
    width,
    height: isTall,
    formatValue,
    formatStart: (start) => format.start(start, period),
  });
  const tip = at === null ? [] : words(at);
  return (
    <div
      ref={box}
      className="bars"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, last)}
      aria-valuenow={at ?? last}
      aria-valuetext={words(at ?? last).join('; ')}
      onKeyDown={(event) => {
        const from = at ?? last;
        const steps: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last };
        const next = steps[event.key];
        if (next !== undefined) {
          event.preventDefault();
          move(next);
        } else if (event.key === 'Escape') setAt(null);
      }}
      onFocus={(event) => (event.target.matches(':focus-visible') && at === null ? move(last) : undefined)}
      onBlur={() => setAt(null)}
      onPointerMove={({ clientX }) => {
        const left = clientX - (box.current?.getBoundingClientRect().left ?? 0);
        const place = drawing.placeAt(left);
        setAt(place);
      }}
      onPointerLeave={() => setAt(null)}
    >
      {width === 0 ? null : <Picture drawing={drawing} width={width} at={at} pattern={pattern} />}
      {tip.length === 0 || at === null ? null : (
        <div
          className="chart-tip"
          aria-hidden="true"
          style={drawing.xOf(at) > width / 2 ? { right: width - drawing.xOf(at) + 12 } : { left: drawing.xOf(at) + 12 }}
        >
          {tip.join('\n')}
        </div>
      )}
    </div>
  );
}

function Picture({
  drawing,
  width,
  at,
  pattern,
}: {
  drawing: Drawing;
  width: number;
  at: number | null;
  pattern: string;
}) {
  const { left, right, top, bottom, height } = drawing;
  return (
    <svg width={width} height={height} aria-hidden="true" focusable="false">
      <defs>
        <pattern id={pattern} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line className="chart-gap" x1="0" y1="0" x2="0" y2="6" />
        </pattern>
      </defs>
      {drawing.gaps.map(({ x, width: wide }) => (
        <rect key={x} x={x} y={top} width={wide} height={bottom - top} fill={`url(#${pattern})`} />
      ))}
      {drawing.marks.map(({ y, text }) => (
        <g key={y}>
          <line className="chart-line" x1={left} x2={right} y1={y} y2={y} />
          <text x={left - 8} y={y} dy="0.32em" textAnchor="end">
            {text}
          </text>
        </g>
      ))}
      {drawing.labels.map(({ x, text }) => (
        <text key={x} x={x} y={height - 8} textAnchor={x + 40 > width ? 'end' : 'middle'}>
          {text}
        </text>
      ))}
      {at === null ? null : (
        <line className="chart-cursor" x1={drawing.xOf(at)} x2={drawing.xOf(at)} y1={top} y2={bottom} />
      )}
      {drawing.bars.map(({ x, y, width: wide, height: tall, color }) => (
        <rect
          key={`${x} ${color}`}
          x={x}
          y={y}
          width={wide}
          height={tall}
          style={{ fill: `var(--series-${color % seriesColors})` }}
        />
      ))}
      {drawing.lines.map(({ path, color, isDot }) => (
        <path
          key={`${color} ${path}`}
          className={isDot ? 'chart-path dot' : 'chart-path'}
          d={path}
          style={{ stroke: `var(--series-${color % seriesColors})` }}
        />
      ))}
    </svg>
  );
}

/** A line as high as its row: how something went, beside its figure. Null values are times of which nothing is known. */
export function Spark({ label, values }: { label: string; values: readonly (number | null)[] }) {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  const step = 100 / Math.max(1, values.length);
  return (
    <svg className="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      {values.map((value, at) =>
        value === null ? null : (
          <rect
            // oxlint-disable-next-line react/no-array-index-key -- a place in time is what a bar is
            key={at}
            x={at * step}
            width={step * 0.8}
            y={24 - Math.max(value > 0 ? 2 : 0.75, most === 0 ? 0 : (value / most) * 24)}
            height={24}
          />
        ),
      )}
    </svg>
  );
}
