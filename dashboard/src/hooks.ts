import { createContext, use, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useParams, useSearchParams } from 'wouter';
import { type Range, readRange } from './range.ts';

/** Hooks that pages share: title, present time, address, range. */

/** Takes the title of a page that is rendered on the server, where effects do not run. */
export const TitleContext = createContext<((title: string) => void) | null>(null);

export function useTitle(title: string): void {
  use(TitleContext)?.(title);
  useEffect(() => {
    document.title = `${title} · Steyg`;
  }, [title]);
}

/** The present time, renewed at this interval. */
export function useNow(everyMs = 30_000): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Whether a media query holds now. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}

/** The parameter of the address, decoded; the router leaves some characters encoded. */
export function usePart(name: string): string {
  const text = useParams()[name] ?? '';
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text to search for, which a link to the page can bring along (`?search=`). */
export function useSearchText(): [text: string, setText: (text: string) => void] {
  const [search] = useSearchParams();
  return useState(() => search.get('search') ?? '');
}

/** The state of a report is kept in the address: its range and other choices. A choice of `''` is removed. */
export function useReportAddress(): {
  search: URLSearchParams;
  range: Range;
  set(values: Record<string, string>): void;
} {
  const [search, setSearch] = useSearchParams();
  // Rounded to minutes: a new query key for each moment would refetch all the time.
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
