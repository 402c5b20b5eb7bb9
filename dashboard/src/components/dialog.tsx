/** Dialogs over a page, and the one that asks before what cannot be undone. */

import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useHidden } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

const fieldNames = 'input:not([type=hidden], :disabled), select:not(:disabled), textarea:not(:disabled)';

/**
 * A dialog over the page, while it is rendered. The browser keeps the focus inside, makes the rest inert and gives the
 * focus back to where it was.
 */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
  drawer = false,
  mustAnswer = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** At the lower edge of a phone. */
  drawer?: boolean;
  /** Its content is shown once: only its own buttons close it. */
  mustAnswer?: boolean;
}) {
  const { t } = useLanguage();
  const dialog = useRef<HTMLDialogElement>(null);
  const closing = useRef<HTMLButtonElement>(null);
  const isHidden = useHidden();
  const id = useId();
  // Closed before it is removed: otherwise the browser does not return the focus.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (isHidden) return undefined;
    element?.showModal();
    // The first field rather than the button that closes the dialog; where an answer is due, the first empty one.
    const focusField = () => {
      const all = element?.querySelectorAll<HTMLInputElement>(fieldNames) ?? [];
      const fields = [...all].filter((field) => field.checkVisibility());
      ((mustAnswer ? fields.find(({ value }) => value === '') : undefined) ?? fields[0])?.focus();
    };
    focusField();
    // The field may come with an answer of the server, or with the next step, which takes the one before with its focus.
    const observer = new MutationObserver(() => {
      const { activeElement, body } = document;
      if ([null, body, element, closing.current].includes(activeElement as HTMLElement | null)) focusField();
    });
    if (element !== null) observer.observe(element, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      element?.close();
    };
  }, [isHidden, mustAnswer]);
  return (
    <dialog
      ref={dialog}
      className={wide ? 'wide' : drawer ? 'drawer' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!mustAnswer) onClose();
      }}
      // A click on the backdrop is one on the dialog itself: its content lies in a box that covers it.
      onMouseDown={(event) => {
        if (event.target === event.currentTarget && !mustAnswer) onClose();
      }}
    >
      <div className="dialog-box">
        <header>
          <h2 id={id}>{title}</h2>
          {mustAnswer ? null : (
            <button ref={closing} type="button" className="icon-button" aria-label={t.common.close} onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Confirms an action that cannot be undone. */
export function Confirm({
  title,
  children,
  action,
  danger = true,
  busy,
  disabled = false,
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  action: string;
  danger?: boolean;
  busy: boolean;
  /** Something is still to be chosen. */
  disabled?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { t } = useLanguage();
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div className="actions">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button look={danger ? 'danger' : 'primary'} busy={busy} disabled={disabled} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
