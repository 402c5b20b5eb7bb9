/** The page of a session that expired: out of the document until its person is back, with what they typed. */

import { type Query, useQueryClient } from '@tanstack/react-query';
import { type ComponentType, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { askAgain, dropAnswers, shownQueries } from '../answers.ts';
import { Hidden } from '../data.tsx';
import { FailureNotice, LoadingSkeleton } from './states.tsx';

/** What nothing reads any more is dropped; a page that goes out of sight reads a moment longer. */
const dropEveryMs = 5_000;

/**
 * A screen that is left behind, or stolen, shows nothing of the page: its elements leave the document, so that neither
 * eyes nor screen readers nor the browser's tools find names and figures in it, and the server's answers are dropped.
 * The elements are not destroyed, because they hold what was typed. The page comes back once its answers are there
 * again: without them it would take its forms away.
 */
export function KeptPage({ over, page: Page }: { over: boolean; page: ComponentType }) {
  const queries = useQueryClient();
  const place = useRef<HTMLDivElement>(null);
  const [box] = useState(() => {
    const element = document.createElement('div');
    element.className = 'kept-page';
    return element;
  });
  const needed = useRef<readonly Query[]>([]);
  const [isWaiting, setWaiting] = useState(false);
  const isHidden = over || isWaiting;

  useLayoutEffect(() => {
    if (!over) return;
    // The page's queries are still watched: its other effects come later.
    if (needed.current.length === 0) needed.current = shownQueries(queries);
    setWaiting(true);
  }, [over, queries]);
  useEffect(() => {
    if (!over) return undefined;
    const timer = setInterval(() => dropAnswers(queries), dropEveryMs);
    return () => clearInterval(timer);
  }, [over, queries]);

  return (
    <>
      <div ref={place} className="kept-page" />
      {createPortal(
        <Hidden when={isHidden}>
          <Placed box={box} place={place} isHidden={isHidden} />
          <Page />
        </Hidden>,
        box,
      )}
      {isHidden ? (
        <main className="waiting">
          <h1>Steyg</h1>
          {over ? null : (
            <AskedAgain
              needed={needed.current}
              onThere={() => {
                needed.current = [];
                setWaiting(false);
              }}
            />
          )}
        </main>
      ) : null}
    </>
  );
}

/** Puts the page's box into the document, or takes it out. It stands before the page: dialogs open after its effect. */
function Placed({
  box,
  place,
  isHidden,
}: {
  box: HTMLElement;
  place: RefObject<HTMLElement | null>;
  isHidden: boolean;
}) {
  useLayoutEffect(() => {
    if (!isHidden) {
      place.current?.append(box);
      return undefined;
    }
    const { title } = document;
    document.title = 'Steyg';
    box.remove();
    return () => {
      document.title = title;
    };
  }, [box, place, isHidden]);
  return null;
}

function AskedAgain({ needed, onThere }: { needed: readonly Query[]; onThere: () => void }) {
  const queries = useQueryClient();
  const [attempt, setAttempt] = useState(1);
  const [error, setError] = useState<unknown>(null);
  const there = useRef(onThere);
  useEffect(() => {
    there.current = onThere;
  });
  // `attempt` asks once more.
  useEffect(() => {
    let isGone = attempt === 0;
    const ask = async () => {
      const problem = await askAgain(queries, needed);
      if (isGone) return;
      if (problem === null) there.current();
      else setError(problem);
    };
    void ask();
    return () => {
      isGone = true;
    };
  }, [queries, needed, attempt]);
  const retry = () => {
    setError(null);
    setAttempt(attempt + 1);
  };
  return error === null ? <LoadingSkeleton height="60vh" /> : <FailureNotice error={error} retry={retry} />;
}
