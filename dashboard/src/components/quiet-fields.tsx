/** The fields of quiet hours: two times of day, and their zone. */

import { fill, useLanguage } from '../language/language.tsx';
import type { InputProblems } from '../problems.ts';
import { TextField } from './field.tsx';
import { Fold } from './page.tsx';

/** As people type it: `22:00`, or nothing. */
export interface QuietDraft {
  from: string;
  to: string;
  timeZone: string;
}

interface Quiet {
  quietFrom: number | null;
  quietTo: number | null;
  timeZone: string;
}

export function draftOf({ quietFrom, quietTo, timeZone }: Quiet): QuietDraft {
  return { from: timeOf(quietFrom), to: timeOf(quietTo), timeZone };
}

export function quietOf({ from, to, timeZone }: QuietDraft): Quiet {
  return { quietFrom: minuteOf(from), quietTo: minuteOf(to), timeZone: timeZone.trim() };
}

function timeOf(minute: number | null): string {
  if (minute === null) return '';
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

function minuteOf(time: string): number | null {
  const [hours, minutes] = time.split(':').map(Number);
  return hours === undefined || minutes === undefined || time === '' ? null : hours * 60 + minutes;
}

/** The browser's own field of times speaks the language of the browser, not that of the page. */
const timeOfDay = {
  inputMode: 'text',
  maxLength: 5,
  pattern: '([01]?[0-9]|2[0-3]):[0-5][0-9]',
  placeholder: '--:--',
} as const;

/** The inputs that show their problem, by the names that the server gives them. */
export const QUIET_INPUTS = ['quietFrom', 'quietTo', 'timeZone'] as const;

export function QuietFields({
  draft,
  disabled,
  onChange,
  errors,
}: {
  draft: QuietDraft;
  disabled: boolean;
  onChange: (draft: QuietDraft) => void;
  errors: InputProblems<(typeof QUIET_INPUTS)[number]>;
}) {
  const { t } = useLanguage();
  return (
    <Fold
      inForm
      title={t.notices.quiet}
      state={
        draft.from === '' || draft.to === ''
          ? t.notices.unset
          : fill(t.notices.quietState, { from: draft.from, to: draft.to })
      }
    >
      <p className="hint">{t.notices.quietHint}</p>
      <TextField
        label={t.notices.quietFrom}
        {...timeOfDay}
        disabled={disabled}
        value={draft.from}
        onChange={(from) => onChange({ ...draft, from })}
        error={errors['quietFrom']}
      />
      <TextField
        label={t.notices.quietTo}
        {...timeOfDay}
        disabled={disabled}
        value={draft.to}
        onChange={(to) => onChange({ ...draft, to })}
        error={errors['quietTo']}
      />
      <TextField
        label={t.notices.timeZone}
        disabled={disabled}
        value={draft.timeZone}
        onChange={(timeZone) => onChange({ ...draft, timeZone })}
        error={errors['timeZone']}
      />
    </Fold>
  );
}
