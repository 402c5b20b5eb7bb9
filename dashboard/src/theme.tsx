import { useSyncExternalStore } from 'react';
import { recall, rememberForServer } from './remembered.ts';

/** The theme, light or dark: the system's, unless the person chose. */

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'steyg.theme';
const listeners = new Set<() => void>();

export function chosenTheme(): Theme {
  const stored = recall(storageKey);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme(theme: Theme): void {
  const { documentElement } = document;
  if (theme === 'system') delete documentElement.dataset['theme'];
  else documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme): void {
  rememberForServer(storageKey, theme === 'system' ? null : theme);
  applyTheme(theme);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    subscribe,
    () => (document.documentElement.dataset['theme'] as Theme | undefined) ?? 'system',
    () => 'system' as const,
  );
}
