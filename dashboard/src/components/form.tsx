/** A form that takes its person to what was refused. */

import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { FailureNotice } from './states.tsx';
import { type Control, ProblemsOfForm, problemOf } from './validity.ts';

/**
 * A form that the page submits. Errors of the whole form stand above its buttons. After a refusal the first field with
 * an error has the focus and is in sight: on a phone it may be screens above the button. What the browser itself refuses (an
 * empty field, a number out of its range) is said at the field, too, in the language of the page.
 */
export function Form({
  onSubmit,
  error,
  children,
  actions,
  label,
}: {
  onSubmit: () => void;
  error?: unknown;
  children: ReactNode;
  actions: ReactNode;
  label?: string;
}) {
  const { t } = useLanguage();
  const form = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  // From a submission until its refusal is shown, or until its person types on.
  const isSent = useRef(false);
  const showRefusal = () => {
    const element = form.current;
    // While the answer is open the errors are those of the attempt before.
    if (!isSent.current || element === null || element.querySelector('.actions [aria-busy="true"]') !== null) return;
    if (focusRefused(element)) isSent.current = false;
  };
  useEffect(showRefusal);
  // What is filled in without being typed (a day of the calendar) is heard of by nobody: it is looked at when it is drawn.
  useEffect(() => {
    const mended = Object.keys(problems).filter((id) => {
      const control = form.current?.elements.namedItem(id);
      return control instanceof Element && 'validity' in control && (control as Control).validity.valid;
    });
    if (mended.length > 0)
      setProblems((known) => Object.fromEntries(Object.entries(known).filter(([id]) => !mended.includes(id))));
  });
  useEffect(() => {
    const element = form.current;
    const refuse = (event: Event) => {
      const control = event.target as Control;
      // Outside of a field there is no place for a sentence: the browser says it.
      if (control.closest('.field') === null) return;
      event.preventDefault();
      isSent.current = true;
      setProblems((known) => ({ ...known, [control.id]: problemOf(control, t) }));
    };
    // The event does not bubble.
    element?.addEventListener('invalid', refuse, true);
    return () => element?.removeEventListener('invalid', refuse, true);
  }, [t]);
  return (
    <form
      ref={form}
      {...(label === undefined ? {} : { 'aria-label': label })}
      onInput={({ target }) => {
        isSent.current = false;
        const { id } = target as Control;
        if (problems[id] !== undefined) setProblems(({ [id]: _mended, ...others }) => others);
      }}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        isSent.current = true;
        setProblems({});
        onSubmit();
        // A form that refuses without asking the server draws nothing new. Of one that asks the server, the button is busy by then.
        setTimeout(showRefusal);
      }}
    >
      <ProblemsOfForm value={problems}>{children}</ProblemsOfForm>
      {error === undefined || error === null ? null : <FailureNotice error={error} />}
      <div className="actions">{actions}</div>
    </form>
  );
}

/** Puts the focus into the first field with an error. False: there is none. */
function focusRefused(form: HTMLFormElement): boolean {
  const field = form.querySelector<HTMLElement>('[aria-invalid="true"]:not(:disabled)');
  if (field === null) return false;
  for (const folded of form.querySelectorAll('details')) if (folded.contains(field)) folded.open = true;
  field.focus({ preventScroll: true });
  // With its label above and its error below.
  (field.closest('.field') ?? field).scrollIntoView({ block: 'center' });
  return true;
}
