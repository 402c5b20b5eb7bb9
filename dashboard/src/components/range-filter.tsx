import { useLanguage } from '../language/language.tsx';
import { dayText, type Range, rangeNames } from '../range.ts';
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
              ? { range: name, from: dayText(range.from), to: dayText(last) }
              : { range: name, from: '', to: '' },
          )
        }
      />
      {range.name === 'custom' ? (
        <>
          <TextField
            label={t.ranges.from}
            type="date"
            value={dayText(range.from)}
            max={dayText(last)}
            onChange={(from) => onChange({ from })}
          />
          <TextField label={t.ranges.to} type="date" value={dayText(last)} onChange={(to) => onChange({ to })} />
        </>
      ) : null}
    </>
  );
}
