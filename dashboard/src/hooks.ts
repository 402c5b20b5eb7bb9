import { useEffect, useMemo, useState } from 'react';
import { useParams, useSearchParams } from 'wouter';
import { type Range, readRange } from './range.ts';

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

/** What a report shows stands in its address: its range, and whatever else is chosen. What is chosen as `''` leaves it. */
export function useReportAddress(): {
  search: URLSearchParams;
  range: Range;
  set(values: Record<string, string>): void;
} {
  const [search, setSearch] = useSearchParams();
  // A minute's difference does not matter to a report; a new key for each moment would ask again and again.
  const minute = Math.floor(Date.now() / 60_000);
  const range = useMemo(() => readRange(search, new Date(minute * 60_000)), [search, minute]);
  const set = (values: Record<string, string>) =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(values)) {
          if (value === '') after.delete(name);
          else after.set(name, value);
        }
        return after;
      },
      { replace: true },
    );
  return { search, range, set };
}
