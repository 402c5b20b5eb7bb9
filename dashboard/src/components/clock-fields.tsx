/** The editor of prices by the clock. */

import { dayName, daysOfWeek, isKnownZone, parseDates, parseHours } from '../hours.ts';
import { fill } from '../language/fill.ts';
import { useOperatorLanguage } from '../language/language.tsx';
import { type ClockDraft, emptySet, type WindowDraft } from '../price-draft.ts';
import { Button } from './button.tsx';
import { Checkbox, TextField } from './field.tsx';
import { SetFields } from './price-set-fields.tsx';

/** As the server allows. */
const maxWindows = 4;

/** The editor of prices for hours of the week. `bounds`: the prompt lengths that each set of prices tells apart. */
export function ClockFields({
  draft,
  bounds,
  onChange,
}: {
  draft: ClockDraft;
  bounds: readonly string[];
  onChange: (draft: ClockDraft) => void;
}) {
  const { t } = useOperatorLanguage();
  const { timeZone, exceptDates, windows } = draft;
  const windowAt = (index: number, window: WindowDraft) =>
    onChange({ ...draft, windows: windows.map((each, at) => (at === index ? window : each)) });
  const add = () =>
    onChange({
      ...draft,
      windows: [...windows, { ...emptySet, weekdays: daysOfWeek.slice(0, 5), hours: '', tiers: [] }],
    });
  return (
    <>
      {windows.length === 0 ? null : (
        <div className="fields">
          <TextField
            label={t.operator.clockTimeZone}
            hint={t.operator.clockTimeZoneHint}
            required
            value={timeZone}
            onChange={(value) => onChange({ ...draft, timeZone: value })}
            error={timeZone === '' || isKnownZone(timeZone.trim()) ? undefined : t.operator.clockTimeZoneHint}
          />
          <TextField
            label={t.operator.clockExceptDates}
            hint={t.operator.clockExceptDatesHint}
            value={exceptDates}
            onChange={(value) => onChange({ ...draft, exceptDates: value })}
            error={parseDates(exceptDates) === null ? t.operator.clockDatesProblem : undefined}
          />
        </div>
      )}
      {windows.map((window, index) => (
        <WindowFields
          key={index}
          number={index + 1}
          window={window}
          bounds={bounds}
          onChange={(changed) => windowAt(index, changed)}
          onRemove={() => onChange({ ...draft, windows: windows.filter((_window, at) => at !== index) })}
        />
      ))}
      {windows.length < maxWindows ? (
        <Button small onClick={add}>
          {t.operator.addWindow}
        </Button>
      ) : null}
    </>
  );
}

function WindowFields({
  number,
  window,
  bounds,
  onChange,
  onRemove,
}: {
  number: number;
  window: WindowDraft;
  bounds: readonly string[];
  onChange: (window: WindowDraft) => void;
  onRemove: () => void;
}) {
  const { t, locale } = useOperatorLanguage();
  const { weekdays, hours, tiers } = window;
  return (
    <fieldset className="route">
      <legend>{fill(t.operator.windowNumber, { n: number })}</legend>
      <div className="checks">
        {daysOfWeek.map((day, place) => (
          <Checkbox
            key={day}
            label={dayName(place, locale)}
            checked={weekdays.includes(day)}
            onChange={(on) =>
              onChange({
                ...window,
                weekdays: daysOfWeek.filter((each) => (each === day ? on : weekdays.includes(each))),
              })
            }
          />
        ))}
      </div>
      <TextField
        label={t.operator.windowHours}
        hint={t.operator.windowHoursHint}
        placeholder="09:00-12:00, 14:00-18:00"
        required
        value={hours}
        onChange={(value) => onChange({ ...window, hours: value })}
        error={hours === '' || parseHours(hours) !== null ? undefined : t.operator.windowHoursProblem}
      />
      <SetFields draft={window} onChange={(set) => onChange({ ...window, ...set })} required />
      {bounds.map((bound, index) => (
        <fieldset key={index} className="tier">
          <legend>{fill(t.operator.windowAbove, { n: bound === '' ? '…' : bound })}</legend>
          <SetFields
            draft={tiers[index] ?? emptySet}
            onChange={(set) =>
              onChange({ ...window, tiers: bounds.map((_bound, at) => (at === index ? set : (tiers[at] ?? emptySet))) })
            }
            required
          />
        </fieldset>
      ))}
      <Button small look="danger" aria-label={fill(t.operator.removeWindow, { n: number })} onClick={onRemove}>
        {t.common.remove}
      </Button>
    </fieldset>
  );
}
