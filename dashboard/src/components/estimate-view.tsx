import type { Estimate } from '@steyg/sdk';
import { useEffect, useState } from 'react';
import { createModelClient } from '../client.ts';
import { estimateTexts } from '../language/estimate.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { estimateOf, type PlayRequest } from '../play.ts';
import { FailureNotice } from './states.tsx';

/** How long the typing pauses before it is asked. */
const pauseMs = 600;

/** What a question can cost at most, and what that bound is made of. Asked only while it is open; nothing is sent to the model. */
export function EstimateView({ apiKey, request }: { apiKey: string; request: PlayRequest | null }) {
  const { locale } = useLanguage();
  const texts = estimateTexts[locale];
  const [open, setOpen] = useState(false);
  const [answer, setAnswer] = useState<{ estimate: Estimate | null; error: unknown }>({ estimate: null, error: null });
  // Drawn with every letter: the same words are asked once.
  const asked = open && request !== null ? JSON.stringify(request) : null;

  useEffect(() => {
    if (asked === null) return;
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      const steyg = createModelClient(location.origin, apiKey);
      estimateOf(steyg, JSON.parse(asked) as PlayRequest, leaving.signal).then(
        (estimate) => setAnswer({ estimate, error: null }),
        (error: unknown) => {
          if (!leaving.signal.aborted) setAnswer({ estimate: null, error });
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [apiKey, asked]);

  const { estimate, error } = answer;
  return (
    <details className="estimate" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.open}</summary>
      {error === null ? null : <FailureNotice error={error} />}
      {estimate === null || request === null ? null : <Bound estimate={estimate} />}
    </details>
  );
}

function Bound({ estimate: { mostUsd, holdUsd, bound } }: { estimate: Estimate }) {
  const { locale, format } = useLanguage();
  const texts = estimateTexts[locale];
  return (
    <>
      <p>{fill(texts.most, { most: format.usdExact(mostUsd), hold: format.usdExact(holdUsd) })}</p>
      <p className="hint">{texts.rests}</p>
      <ul className="hint">
        {bound.map(({ kind, count, tokens, isWindow }) => (
          <li key={kind}>
            {fill(isWindow ? texts.window : count === null ? texts.part : texts.several, {
              what: texts.kinds[kind] ?? texts.other,
              n: format.number(count ?? 0),
              tokens: format.number(tokens),
            })}
          </li>
        ))}
      </ul>
    </>
  );
}
