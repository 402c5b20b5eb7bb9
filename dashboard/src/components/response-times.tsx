/** How fast an account's requests were answered, as a chart of lines. */

import { GraphqlError } from '@steyg/sdk';
import { useMemo } from 'react';
import { useAsk } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import type { Range } from '../range.ts';
import { startsBetween, timeZone } from '../usage.ts';
import { Chart, ChartSkeleton } from './chart.tsx';
import { Card } from './page.tsx';
import { Banner, Empty, Loaded } from './states.tsx';

export function ResponseTimes({
  accountId,
  range,
  keyId,
  model,
}: {
  accountId: string;
  range: Range;
  keyId: string;
  model: string;
}) {
  const { t, format } = useLanguage();
  const period = range.period === 'HOUR' ? 'HOUR' : 'DAY';
  const times = useAsk({
    key: ['latency', accountId, range.from, range.to, keyId, model],
    ask: (steyg, signal) =>
      steyg.console.ledger.latency(
        {
          accountId,
          from: range.from.toISOString(),
          ...(range.to === null ? {} : { to: range.to.toISOString() }),
          ...(keyId === '' ? {} : { keyId }),
          ...(model === '' ? {} : { model }),
          period,
          timeZone: timeZone(),
        },
        { signal },
      ),
    every: 60_000,
  });
  const starts = useMemo(() => startsBetween(range.from, range.to ?? new Date(), period), [range, period]);
  const series = useMemo(() => {
    const points = new Map((times.data ?? []).map((point) => [new Date(point.start).getTime(), point]));
    const read = (of: (point: NonNullable<typeof times.data>[number]) => number | null) =>
      starts.map((start) => {
        const point = points.get(start.getTime());
        return point === undefined ? null : of(point);
      });
    const { p50, p95, first50, first95 } = t.activity.timesLines;
    return [
      { label: p50, values: read(({ latencyP50Ms }) => latencyP50Ms) },
      { label: p95, values: read(({ latencyP95Ms }) => latencyP95Ms) },
      { label: first50, values: read(({ firstByteP50Ms }) => firstByteP50Ms) },
      { label: first95, values: read(({ firstByteP95Ms }) => firstByteP95Ms) },
    ].filter(({ values }) => values.some((value) => value !== null));
  }, [times.data, starts, t]);
  const isTooMany = times.error instanceof GraphqlError && times.error.code === 'BAD_INPUT';
  return (
    <Card title={t.activity.times}>
      {isTooMany ? (
        <Banner tone="info">{t.activity.timesTooMany}</Banner>
      ) : (
        <Loaded query={times} skeleton={<ChartSkeleton />}>
          {() =>
            series.length === 0 ? (
              <Empty title={t.activity.empty} />
            ) : (
              <>
                <p className="hint">{t.activity.timesText}</p>
                <Chart
                  label={t.activity.times}
                  kind="lines"
                  starts={starts}
                  series={series}
                  period={period}
                  formatValue={format.milliseconds}
                />
              </>
            )
          }
        </Loaded>
      )}
    </Card>
  );
}
