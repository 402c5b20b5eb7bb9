/** Buttons, which stay focusable while they are busy. */

import type { ButtonHTMLAttributes } from 'react';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  small?: boolean;
  /** The action is in progress; another press would repeat it. */
  busy?: boolean;
}

/** A busy button keeps the focus: disabling it would move the keyboard back to the top of the page. */
export function Button({
  look = 'plain',
  small,
  busy = false,
  type = 'button',
  className,
  onClick,
  ...rest
}: ButtonProps) {
  const names = ['button', look, small === true ? 'small' : '', className ?? ''].filter((name) => name !== '');
  return (
    <button
      {...rest}
      type={type}
      className={names.join(' ')}
      aria-busy={busy}
      aria-disabled={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}
