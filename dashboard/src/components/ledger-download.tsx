import type { LedgerFilter } from '@steyg/sdk';
import { orThrow } from '@steyg/sdk';
import { useRef, useState } from 'react';
import { useSteyg } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { FailureNotice } from './states.tsx';

/** Downloads the ledger of an account as a CSV file, page by page. */

type State = { kind: 'idle' } | { kind: 'loading'; rows: number } | { kind: 'failed'; error: unknown };

/** Downloads the ledger as CSV with its progress: a year of it takes a while. */
export function LedgerDownload({ filter, expected }: { filter: LedgerFilter; expected: number | null }) {
  const { t, format } = useLanguage();
  const { id: accountId } = useAccount();
  const steyg = useSteyg();
  const [state, setState] = useState<State>({ kind: 'idle' });
  const controller = useRef<AbortController>(null);
  const stop = () => {
    controller.current?.abort();
    setState({ kind: 'idle' });
  };
  const start = async () => {
    const abort = new AbortController();
    controller.current = abort;
    setState({ kind: 'loading', rows: 0 });
    try {
      const link = orThrow(
        await steyg.console.ledger.createLedgerDownload({ accountId, filter }, { signal: abort.signal }),
      );
      const { pieces, name } = await download(link.url, abort.signal, (rows) => setState({ kind: 'loading', rows }));
      save(new Blob(pieces, { type: 'text/csv' }), name);
      setState({ kind: 'idle' });
    } catch (error) {
      if (!abort.signal.aborted) setState({ kind: 'failed', error });
    }
  };
  return (
    <>
      <Button onClick={() => void start()}>{t.activity.csv}</Button>
      {state.kind === 'idle' ? null : (
        <Dialog title={t.activity.csvTitle} onClose={stop}>
          {state.kind === 'failed' ? (
            <FailureNotice error={state.error} retry={() => void start()} />
          ) : (
            <>
              <progress
                aria-label={t.activity.csvTitle}
                {...(expected === null || expected === 0
                  ? {}
                  : { max: expected, value: Math.min(state.rows, expected) })}
              />
              <p role="status">{fill(t.activity.csvRows, { n: format.number(state.rows) })}</p>
            </>
          )}
          <div className="actions">
            <Button onClick={stop}>{t.common.cancel}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** The link names the server's public address; the page may be open under another name. */
async function download(
  url: string,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<{ pieces: Uint8Array<ArrayBuffer>[]; name: string }> {
  const { pathname, search } = new URL(url);
  const response = await fetch(`${pathname}${search}`, { signal });
  if (!response.ok || response.body === null) throw new Error(`the download was answered with ${response.status}`);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  // The server's name of the file says which months are not in it.
  const [, name = 'ledger.csv'] = /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  // The first line names the columns.
  let rows = -1;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { pieces, name };
    pieces.push(value);
    for (const byte of value) if (byte === 10) rows += 1;
    onRows(Math.max(0, rows));
  }
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
