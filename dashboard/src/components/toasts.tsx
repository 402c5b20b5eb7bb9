import { createContext, type ReactNode, use, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';

/**
 * Toasts: short messages about a finished action, announced to screen readers. They carry nothing that is needed later.
 */

type Say = (text: string, tone?: 'good' | 'bad') => void;

const ToastContext = createContext<Say>(() => undefined);
const shownMs = 6_000;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<{ id: number; text: string; tone: string }[]>([]);
  const next = useRef(0);
  const say = useCallback<Say>((text, tone = 'good') => {
    const id = next.current++;
    setToasts((shown) => [...shown.slice(-2), { id, text, tone }]);
    setTimeout(() => setToasts((shown) => shown.filter((toast) => toast.id !== id)), shownMs);
  }, []);
  const value = useMemo(() => say, [say]);
  const list = useRef<HTMLDivElement>(null);
  // Shown again for each toast: the newest element of the browser's top layer covers dialogs and their backdrops.
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || toasts.length === 0) return;
    if (element.matches(':popover-open')) element.hidePopover();
    element.showPopover();
  }, [toasts]);
  return (
    <ToastContext value={value}>
      {children}
      <div ref={list} className="toasts" role="status" aria-live="polite" popover="manual">
        {toasts.map(({ id, text, tone }) => (
          <p key={id} className={`toast ${tone}`}>
            {text}
          </p>
        ))}
      </div>
    </ToastContext>
  );
}

export function useSay(): Say {
  return use(ToastContext);
}
