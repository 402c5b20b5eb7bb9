import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { calendarNames, dateOf, dayValue, weeksOf } from '../dates.ts';
import { useLanguage } from '../language/language.tsx';
import { Icon } from './icon.tsx';

/** Steps of the keys that move through a calendar, in days; those of a month are worked out. */
const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** A month to choose a day from, by pointer and by keyboard. */
export default function Calendar({
  label,
  value,
  max,
  onChoose,
  onClose,
}: {
  label: string;
  value: string;
  max: string | undefined;
  onChoose: (day: string) => void;
  onClose: () => void;
}) {
  const { t, locale } = useLanguage();
  const names = useMemo(() => calendarNames(locale), [locale]);
  const [day, setDay] = useState(() => dateOf(value) ?? new Date());
  const box = useRef<HTMLDivElement>(null);
  const month = day.getMonth();
  const weeks = weeksOf(day, locale);
  const chosen = value.slice(0, 10);
  const goTo = (next: Date) => setDay(next);
  const months = (by: number) => {
    const last = new Date(day.getFullYear(), month + by + 1, 0).getDate();
    return new Date(day.getFullYear(), month + by, Math.min(day.getDate(), last));
  };

  // The focus follows the day before the next key arrives, except while the months are turned by their buttons.
  useLayoutEffect(() => {
    if (document.activeElement?.closest('.calendar header') === null)
      box.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  }, [day]);
  // A press beside the calendar closes it.
  useEffect(() => {
    const onPress = ({ target }: PointerEvent) => {
      if (target instanceof Node && box.current?.parentElement?.contains(target) === false) onClose();
    };
    addEventListener('pointerdown', onPress);
    return () => removeEventListener('pointerdown', onPress);
  }, [onClose]);

  return (
    <div
      ref={box}
      className="calendar"
      role="dialog"
      aria-label={label}
      onKeyDown={(event) => {
        const step = steps[event.key];
        const next =
          event.key === 'PageUp'
            ? months(-1)
            : event.key === 'PageDown'
              ? months(1)
              : step === undefined || (event.target as Element).closest('header') !== null
                ? null
                : new Date(day.getFullYear(), month, day.getDate() + step);
        if (next !== null) goTo(next);
        else if (event.key === 'Escape') onClose();
        else return;
        event.preventDefault();
        // In a dialog, Escape closes the calendar alone.
        event.stopPropagation();
      }}
    >
      <header>
        <button type="button" className="icon-button" aria-label={t.dates.previous} onClick={() => goTo(months(-1))}>
          <Icon name="previous" />
        </button>
        <strong aria-live="polite">{names.month(day)}</strong>
        <button type="button" className="icon-button" aria-label={t.dates.next} onClick={() => goTo(months(1))}>
          <Icon name="next" />
        </button>
      </header>
      <div className="calendar-days">
        {weeks[0]?.map((each) => (
          <span key={each.getDay()} aria-hidden="true">
            {names.weekday(each)}
          </span>
        ))}
        {weeks.flat().map((each) => {
          const of = dayValue(each);
          return (
            <button
              key={of}
              type="button"
              className={each.getMonth() === month ? '' : 'other'}
              aria-label={names.day(each)}
              aria-pressed={of === chosen}
              aria-current={of === dayValue(new Date()) ? 'date' : undefined}
              disabled={max !== undefined && of > max}
              tabIndex={of === dayValue(day) ? 0 : -1}
              onClick={() => onChoose(of)}
            >
              {each.getDate()}
            </button>
          );
        })}
      </div>
    </div>
  );
}
