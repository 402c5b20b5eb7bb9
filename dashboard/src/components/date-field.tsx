import { lazy, Suspense, useRef, useState } from 'react';
import { printDate, readDate } from '../dates.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { Field, type FieldText } from './field.tsx';
import { Icon } from './icon.tsx';

/** Loaded at its first use. */
const Calendar = lazy(() => import('./calendar.tsx'));

/**
 * A day, or a day and a time, in the language of the page. A value has the format of HTML's fields in local time; an
 * empty one is none.
 */
export function DateField({
  label,
  hint,
  error,
  value,
  onChange,
  withTime = false,
  required = false,
  max,
}: FieldText & {
  value: string;
  onChange: (value: string) => void;
  withTime?: boolean;
  required?: boolean;
  /** The last day that can be chosen. */
  max?: string;
}) {
  const { t, locale } = useLanguage();
  const [draft, setDraft] = useState<string | null>(null);
  const [left, setLeft] = useState(false);
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const read = (text: string) => (text.trim() === '' ? '' : readDate(text, locale, withTime));
  const isUnread = draft !== null && read(draft) === null;
  const example = printDate(withTime ? '2026-11-23T14:30' : '2026-11-23', locale, withTime);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    <Field label={label} hint={hint} error={isUnread && left ? fill(t.dates.unread, { example }) : error}>
      {(described) => (
        <div className="date-field">
          <input
            {...described}
            type="text"
            autoComplete="off"
            required={required}
            placeholder={example}
            value={draft ?? printDate(value, locale, withTime)}
            onChange={(event) => {
              setDraft(event.target.value);
              setLeft(false);
              const next = read(event.target.value);
              if (next !== null) onChange(next);
            }}
            onBlur={() => {
              setLeft(true);
              // Understood: shown as the page writes it.
              if (draft !== null && read(draft) !== null) setDraft(null);
            }}
          />
          <button
            ref={opener}
            type="button"
            className="icon-button"
            aria-label={fill(t.dates.open, { label })}
            aria-haspopup="dialog"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            <Icon name="calendar" />
          </button>
          {open ? (
            <Suspense fallback={null}>
              <Calendar
                label={label}
                value={value}
                max={max}
                onClose={close}
                onChoose={(day) => {
                  setDraft(null);
                  onChange(withTime ? `${day}T${/T(.+)$/.exec(value)?.[1] ?? '00:00'}` : day);
                  close();
                }}
              />
            </Suspense>
          ) : null}
        </div>
      )}
    </Field>
  );
}
