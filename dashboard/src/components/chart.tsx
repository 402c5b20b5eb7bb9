/** A chart of stacked bars, with its figures as a table. */

import { lazy, Suspense } from 'react';
import { useLanguage } from '../language/language.tsx';
import type { Period } from '../usage.ts';
import { LoadingSkeleton } from './states.tsx';
import { Table } from './table.tsx';

export interface Series {
  label: string;
  /** One for each start. */
  values: readonly number[];
}

export interface ChartProps {
  label: string;
  /** When each bar begins. */
  starts: readonly Date[];
  series: readonly Series[];
  /** What each bar stands for: it says how its start is written. */
  period: Period;
  formatValue: (value: number) => string;
}

const Bars = lazy(() => import('./bars.tsx'));

/** Colours of a chart's series, in both themes; they repeat after eight. */
export const seriesColors = 8;

/** The placeholder of a chart, of the same size, so that the layout does not shift. */
export function ChartSkeleton({ tall = false }: { tall?: boolean }) {
  return (
    <div className={tall ? 'chart tall' : 'chart'}>
      <Waiting />
    </div>
  );
}

function Waiting() {
  return (
    <div className="bars">
      <LoadingSkeleton height="100%" />
    </div>
  );
}

/** Stacked bars over time, with the same figures as a table behind them. */
export function Chart({ tall = false, ...props }: ChartProps & { /** Beside something that is. */ tall?: boolean }) {
  const { t, format } = useLanguage();
  const { label, starts, series, period, formatValue } = props;
  const total = (at: number) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
  const sum = starts.reduce((whole, _start, at) => whole + total(at), 0);
  return (
    <figure className={tall ? 'chart tall' : 'chart'}>
      <div role="img" aria-label={`${label}: ${formatValue(sum)}`}>
        <Suspense fallback={<Waiting />}>
          <Bars {...props} />
        </Suspense>
      </div>
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
        <Table
          caption={label}
          rows={starts.map((start, at) => ({ start, at })).filter(({ at }) => total(at) > 0)}
          rowKey={({ start }) => start.toISOString()}
          columns={[
            { head: t.common.when, cell: ({ start }) => format.start(start, period), names: true },
            ...series.map((each) => ({
              head: each.label,
              figure: true,
              cell: ({ at }: { at: number }) => formatValue(each.values[at] ?? 0),
            })),
            ...(series.length < 2
              ? []
              : [{ head: t.common.total, figure: true, cell: ({ at }: { at: number }) => formatValue(total(at)) }]),
          ]}
        />
      </details>
    </figure>
  );
}
