import { useDeferredValue, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { TextField } from './field.tsx';

/** The text that a list is searched for, and its field. */

export interface Search {
  text: string;
  /** What is asked of the server; null: nothing was typed. */
  asked: string | null;
  set: (text: string) => void;
}

export function useSearch(): Search {
  const [text, set] = useState('');
  const asked = useDeferredValue(text.trim());
  return { text, asked: asked === '' ? null : asked, set };
}

export function SearchField({ search, label, hint }: { search: Search; label?: string; hint?: string }) {
  const { t } = useLanguage();
  return (
    <TextField
      label={label ?? t.common.search}
      hint={hint}
      type="search"
      maxLength={100}
      value={search.text}
      onChange={search.set}
    />
  );
}
