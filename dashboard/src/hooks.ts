import { useEffect, useState } from 'react';

/** The window's title, for pages without the usual head. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Steyg`;
  }, [title]);
}

/** The present, renewed so often. */
export function useNow(everyMs = 30_000): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
