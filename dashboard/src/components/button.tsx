import type { ButtonHTMLAttributes } from 'react';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  small?: boolean;
  /** Something is under way; another press would do it twice. */
  busy?: boolean;
}

/** A busy button stays where the focus is: disabling it would throw the keyboard back to the top of the page. */
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
