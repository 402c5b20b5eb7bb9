import { useLanguage } from '../language/language.tsx';
import { dayInputValue, type Range, rangeNames } from '../range.ts';
import { Choice, TextField } from './field.tsx';

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
              ? { range: name, from: dayInputValue(range.from), to: dayInputValue(last) }
              : { range: name, from: '', to: '' },
          )
        }
      />
      {range.name === 'custom' ? (
        <>
          <TextField
            label={t.ranges.from}
            type="date"
            value={dayInputValue(range.from)}
            max={dayInputValue(last)}
            onChange={(from) => onChange({ from })}
          />
          <TextField label={t.ranges.to} type="date" value={dayInputValue(last)} onChange={(to) => onChange({ to })} />
        </>
      ) : null}
    </>
  );
}
