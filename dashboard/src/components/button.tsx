/** Buttons, which stay focusable while they are busy. */

import type { ButtonHTMLAttributes } from 'react';
import { useMay } from '../session.tsx';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  small?: boolean;
  /** The action is in progress; another press would repeat it. */
  busy?: boolean;
  /** The operators' mutation that it leads to: not shown to an operator whose role does not allow that. */
  takes?: string;
}

/** A busy button keeps the focus: disabling it would move the keyboard back to the top of the page. */
export function Button({
  look = 'plain',
  small,
  busy = false,
  type = 'button',
  className,
  onClick,
  takes,
  ...rest
}: ButtonProps) {
  const may = useMay();
  if (takes !== undefined && !may(takes)) return null;
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
