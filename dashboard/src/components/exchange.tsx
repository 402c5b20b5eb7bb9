import { AuthenticationError, BudgetError } from '@steyg/sdk';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Exchange } from '../exchanges.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages, pathTo } from '../pages.ts';
import { pathOf, protocolNames, readableBody } from '../play.ts';
import { Button } from './button.tsx';
import { Code } from './copy.tsx';
import { Badge } from './page.tsx';
import { FailureNotice } from './states.tsx';

/** An exchange with a model: question, answer so far, cost, and the traffic. */
export function ExchangeView({
  exchange,
  onAgain,
  onOtherKey,
}: {
  exchange: Exchange;
  /** Left out while another one runs. */
  onAgain: (() => void) | undefined;
  onOtherKey: () => void;
}) {
  const { t } = useLanguage();
  const { request, text, thinking, state, error } = exchange;
  const asked = request.turns.at(-1);
  return (
    <article className="exchange">
      <p className="said user">
        <span className="sr-only">{t.playground.you}: </span>
        {asked?.text}
        {(asked?.pictures ?? []).map(({ name }, index) => (
          <span key={index} className="note">
            {name}
          </span>
        ))}
      </p>
      <p className="hint">
        <code>{request.model}</code> · {t.protocols[protocolNames[request.protocol]]}
      </p>
      {thinking === '' ? null : (
        <details>
          <summary>{t.playground.thinking}</summary>
          <p className="thinking">{thinking}</p>
        </details>
      )}
      {state !== 'running' && text === '' ? null : (
        <p className="said answer" aria-busy={state === 'running'}>
          {text}
          {state === 'running' && text === '' ? <span className="pulse" aria-hidden="true" /> : null}
        </p>
      )}
      {state === 'stopped' ? (
        <p>
          <Badge tone="warn">{t.playground.stopped}</Badge>
        </p>
      ) : null}
      {error === null ? null : (
        <FailureNotice error={error} {...(onAgain === undefined ? {} : { retry: onAgain })} action={wayOut()} />
      )}
      <Facts exchange={exchange} />
      <Raw exchange={exchange} />
    </article>
  );

  /** The step that a retry needs first. */
  function wayOut() {
    if (error instanceof BudgetError && error.keyLimit === null) {
      return (
        <Link href={pages.topUp} className="button small">
          {t.nav.topUp}
        </Link>
      );
    }
    if (error instanceof AuthenticationError || error instanceof BudgetError) {
      return (
        <Button small onClick={onOtherKey}>
          {t.playground.otherKey}
        </Button>
      );
    }
    return null;
  }
}

function Facts({ exchange }: { exchange: Exchange }) {
  const { t, format } = useLanguage();
  const { cost, firstAfterMs, tookMs, requestId } = exchange;
  if (tookMs === null) return null;
  const facts = [
    ...(firstAfterMs === null ? [] : [fill(t.playground.first, { time: format.milliseconds(firstAfterMs) })]),
    fill(t.playground.took, { time: format.milliseconds(tookMs) }),
    ...(cost === null
      ? []
      : [
          fill(t.playground.tokens, {
            input: format.number(cost.entry.usage.inputTokens),
            cache: format.number(cost.entry.usage.cacheHitTokens),
            output: format.number(cost.entry.usage.outputTokens),
          }),
          fill(t.playground.cost, { usd: format.usdExact(cost.costUsd) }),
        ]),
  ];
  return (
    <p className="hint">
      {facts.join(' · ')}
      {requestId === null ? null : (
        <>
          {' · '}
          <Link href={pathTo(pages.entry, { requestId })}>{t.playground.receipt}</Link>
        </>
      )}
    </p>
  );
}

/** The request and the events as they were sent, without the key. Built only when it is opened. */
function Raw({ exchange }: { exchange: Exchange }) {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  const { request, events } = exchange;
  const sent = useMemo(
    () =>
      [`POST ${pathOf(request.protocol)}`, 'authorization: Bearer sk-steyg-…', '', readableBody(request)].join('\n'),
    [request],
  );
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{fill(t.playground.raw, { n: events.length })}</summary>
      {open ? (
        <div className="raw">
          <Code text={sent} what={t.playground.request} title={t.playground.request} />
          <Code
            text={events.map((event) => JSON.stringify(event)).join('\n')}
            what={t.playground.events}
            title={t.playground.events}
          />
        </div>
      ) : null}
    </details>
  );
}
