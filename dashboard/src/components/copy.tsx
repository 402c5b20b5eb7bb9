import { useEffect, useState } from 'react';
import { fill, useLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** A button that copies a text. `what` names it for screen readers. */
export function CopyButton({ text, what, label }: { text: string; what: string; label?: string }) {
  const { t } = useLanguage();
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  useEffect(() => {
    if (state === 'ready') return undefined;
    const timer = setTimeout(() => setState('ready'), 2_500);
    return () => clearTimeout(timer);
  }, [state]);
  const word = { ready: label ?? t.common.copy, copied: t.common.copied, failed: t.common.copyFailed }[state];
  return (
    <Button
      small
      className="copy"
      aria-label={
        state !== 'ready' ? word : label === undefined ? fill(t.common.copyWhat, { what }) : `${label}: ${what}`
      }
      aria-live="polite"
      onClick={() => {
        // Only pages with https or on this machine may write to the clipboard.
        const writing = (navigator.clipboard as Clipboard | undefined)?.writeText(text) ?? Promise.reject(new Error());
        writing.then(
          () => setState('copied'),
          () => setState('failed'),
        );
      }}
    >
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      {word}
    </Button>
  );
}

/** Text for machines, to be copied unchanged. */
export function Code({ text, what, title }: { text: string; what: string; title?: string }) {
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{title ?? ''}</span>
        <CopyButton text={text} what={what} />
      </div>
      {/* What scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} role="group" aria-label={what}>
        <code>{text}</code>
      </pre>
    </div>
  );
}

/** One value with a button beside it. */
export function CopyValue({ label, text, shown }: { label: string; text: string; shown?: string }) {
  return (
    <div className="copy-value">
      <span className="label">{label}</span>
      <code>{shown ?? text}</code>
      <CopyButton text={text} what={label} />
    </div>
  );
}
