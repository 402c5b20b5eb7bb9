import { lazy, Suspense } from 'react';
import { dayValue } from '../dates.ts';
import { useLanguage } from '../language/language.tsx';
import { type Range, rangeNames } from '../range.ts';
import { Choice } from './field.tsx';

// Most reports are read over a range that has a name.
const DateField = lazy(async () => ({ default: (await import('./date-field.tsx')).DateField }));

/** Chooses the range of a report. It is kept in the address, so that the view can be shared. */
export function RangeFilter({ range, onChange }: { range: Range; onChange: (values: Record<string, string>) => void }) {
  const { t } = useLanguage();
  const last = range.to === null ? new Date() : new Date(range.to.getTime() - 1);
  return (
    <>
      <Choice
        label={t.ranges.label}
        value={range.name}
        options={rangeNames.map((value) => ({ value, label: t.ranges[value] }))}
        onChange={(name) =>
          onChange(
            name === 'custom'
              ? { range: name, from: dayValue(range.from), to: dayValue(last) }
              : { range: name, from: '', to: '' },
          )
        }
      />
      {range.name === 'custom' ? (
        <Suspense>
          <DateField
            label={t.ranges.from}
            value={dayValue(range.from)}
            max={dayValue(last)}
            onChange={(from) => onChange({ from })}
          />
          <DateField label={t.ranges.to} value={dayValue(last)} onChange={(to) => onChange({ to })} />
        </Suspense>
      ) : null}
    </>
  );
}
