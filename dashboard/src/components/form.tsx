/** A form that takes its person to what was refused. */

import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { FailureNotice } from './states.tsx';

/**
 * A form that the page submits. Errors of the whole form stand above its buttons. After a refusal the first field with
 * an error has the focus and is in sight: on a phone it may be screens above the button.
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
  const form = useRef<HTMLFormElement>(null);
  // From a submission until its refusal is shown, or until its person types on.
  const isSent = useRef(false);
  const showRefusal = () => {
    const element = form.current;
    // While the answer is open the errors are those of the attempt before.
    if (!isSent.current || element === null || element.querySelector('.actions [aria-busy="true"]') !== null) return;
    if (focusRefused(element)) isSent.current = false;
  };
  useEffect(showRefusal);
  return (
    <form
      ref={form}
      {...(label === undefined ? {} : { 'aria-label': label })}
      onInput={() => {
        isSent.current = false;
      }}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        isSent.current = true;
        onSubmit();
        // A form that refuses by itself draws nothing new. Of one that asks the server, the button is busy by then.
        setTimeout(showRefusal);
      }}
    >
      {children}
      {error === undefined || error === null ? null : <FailureNotice error={error} />}
      <div className="actions">{actions}</div>
    </form>
  );
}

/** Puts the focus into the first field with an error. False: there is none. */
function focusRefused(form: HTMLFormElement): boolean {
  const field = form.querySelector<HTMLElement>('[aria-invalid="true"]:not(:disabled)');
  if (field === null) return false;
  field.focus({ preventScroll: true });
  // With its label above and its error below.
  (field.closest('.field') ?? field).scrollIntoView({ block: 'center' });
  return true;
}
