import type { FormEvent, ReactNode } from 'react';
import { FailureNotice } from './states.tsx';

/** A form that the page submits. Errors of the whole form stand above its buttons. */
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
  return (
    <form
      {...(label === undefined ? {} : { 'aria-label': label })}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error === undefined || error === null ? null : <FailureNotice error={error} />}
      <div className="actions">{actions}</div>
    </form>
  );
}
