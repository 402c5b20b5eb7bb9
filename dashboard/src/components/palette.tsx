import type { SearchAnswer } from '@steyg/sdk';
import { type KeyboardEvent, useDeferredValue, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useAsk } from '../data.tsx';
import { useOperatorLanguage } from '../language/language.tsx';
import { pages, pathTo } from '../pages.ts';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Empty, Loaded } from './states.tsx';

/** The operator's search over customers, orders, transfers, keys, models and requests: ⌘K or Ctrl K. */

type Hit = NonNullable<SearchAnswer>[number];

const minLength = 2;

/** Where a hit is shown: orders and transfers in their list, searched for what was typed. */
function addressOf({ kind, id, title, accountId }: Hit, text: string): string {
  if (kind === 'MODEL') return pathTo(pages.operatorModel, { modelId: title });
  if (kind === 'ORDER') return `${pages.operatorOrders}?search=${encodeURIComponent(title)}`;
  if (kind === 'TRANSFER') return `${pages.operatorTransfers}?search=${encodeURIComponent(text)}`;
  if (kind === 'REQUEST' && accountId !== null)
    return `${pathTo(pages.operatorAccount, { id: accountId })}?request=${encodeURIComponent(id)}`;
  return accountId === null ? pages.operatorAccounts : pathTo(pages.operatorAccount, { id: accountId });
}

export default function Palette({ onClose }: { onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const [, go] = useLocation();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const wanted = useDeferredValue(text.trim());
  const found = useAsk({
    key: ['operator', 'search', wanted],
    ask: (steyg, signal) => steyg.console.operator.search({ text: wanted }, { signal }),
    when: wanted.length >= minLength,
  });
  const hits = wanted.length >= minLength ? (found.data ?? []) : [];
  const chosen = Math.min(at, hits.length - 1);
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return;
    go(addressOf(hit, wanted));
    onClose();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, hits.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else if (event.key === 'Enter') open(hits[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t.operator.searchEverything} onClose={onClose} wide>
      <TextField
        label={t.common.search}
        hint={t.operator.searchEverythingHint}
        type="search"
        role="combobox"
        aria-expanded={hits.length > 0}
        aria-controls={listId}
        aria-activedescendant={hits.length > 0 ? `${listId}-${chosen}` : undefined}
        autoComplete="off"
        maxLength={200}
        value={text}
        onChange={(value) => {
          setText(value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      {wanted.length < minLength ? null : (
        // Without an answer it says whether it waits, is offline, or failed.
        <Loaded query={found}>{(list) => (list.length === 0 ? <Empty title={t.common.nothingFound} /> : null)}</Loaded>
      )}
      <div id={listId} role="listbox" aria-label={t.operator.hits} className="hits">
        {hits.map((hit, index) => (
          <div
            key={`${hit.kind} ${hit.id}`}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => open(hit)}
            onKeyDown={onKey}
          >
            <span className="note">{t.operator.hitKinds[hit.kind]}</span>
            <strong>{hit.title}</strong>
            <span>{hit.detail.replace(/^\d+(?= VND)/, (amount) => format.number(amount))}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
