import { useEffect, useState } from 'react';
import { useParams } from 'wouter';

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

/** The part of the address that stands for something; the router leaves some of its characters encoded. */
export function usePart(name: string): string {
  const text = useParams()[name] ?? '';
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
