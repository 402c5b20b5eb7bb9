import type { CallCost, ModelsAnswer } from '@steyg/sdk';
import { useEffect, useMemo, useReducer, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { createModelClient } from '../client.ts';
import { Button } from '../components/button.tsx';
import { Code } from '../components/copy.tsx';
import { Choice, SelectField, TextArea, TextField } from '../components/field.tsx';
import { useCreateKey } from '../components/new-key.tsx';
import { Badge, Card, Page } from '../components/page.tsx';
import { Empty, Failure, Loaded } from '../components/states.tsx';
import { useAsk } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { pages, pathTo } from '../pages.ts';
import { bodyOf, type Play, type PlayProtocol, type PlayRequest, pathOf, play } from '../play.ts';
import { useAbilities } from '../session.tsx';

type Models = NonNullable<ModelsAnswer>;

/** The key of this tab: in memory alone, gone with the tab. */
const tab: { key: string | null } = { key: null };
/** A key that is made for a tab ends by itself, and cannot spend much meanwhile. */
const tabKeyMs = 3_600_000;
const tabKeyUsd = '1';

interface Exchange {
  request: PlayRequest;
  text: string;
  thinking: string;
  events: unknown[];
  state: 'running' | 'done' | 'stopped' | 'failed';
  error: unknown;
  startedAt: number;
  firstAfterMs: number | null;
  tookMs: number | null;
  cost: CallCost | null;
  requestId: string | null;
}

export default function Playground() {
  const { t } = useLanguage();
  const [key, setKey] = useState(tab.key);
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  const use = (secret: string | null) => {
    tab.key = secret;
    setKey(secret);
  };
  return (
    <Page title={t.playground.title} lead={t.playground.lead}>
      <KeyCard apiKey={key} onUse={use} />
      <Loaded query={models}>
        {(list) =>
          list.length === 0 ? <Empty title={t.models.empty} /> : <Conversation key={key} models={list} apiKey={key} />
        }
      </Loaded>
    </Page>
  );
}

function KeyCard({ apiKey, onUse }: { apiKey: string | null; onUse: (secret: string | null) => void }) {
  const { t } = useLanguage();
  const { keys } = useAbilities();
  const [typed, setTyped] = useState('');
  const create = useCreateKey(({ secret }) => onUse(secret));
  if (apiKey !== null) {
    return (
      <p className="row-line">
        <span>
          {t.playground.keyInUse} <code>…{apiKey.slice(-4)}</code>
        </span>
        <Button small onClick={() => onUse(null)}>
          {t.playground.otherKey}
        </Button>
      </p>
    );
  }
  return (
    <Card title={t.playground.key}>
      <p>{t.playground.keyText}</p>
      {create.error === null ? null : <Failure error={create.error} />}
      <form
        className="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== '') onUse(typed.trim());
        }}
      >
        <TextField label={t.keys.secret} type="password" autoComplete="off" value={typed} onChange={setTyped} />
        <Button type="submit" disabled={typed.trim() === ''}>
          {t.playground.useKey}
        </Button>
        {keys ? (
          <Button
            look="primary"
            busy={create.isPending}
            onClick={() =>
              create.mutate({
                name: t.playground.keyName,
                expiresAt: new Date(Date.now() + tabKeyMs).toISOString(),
                limits: { day: null, month: null, lifetime: tabKeyUsd },
              })
            }
          >
            {t.playground.makeKey}
          </Button>
        ) : null}
      </form>
    </Card>
  );
}

const protocolOf = { MESSAGES: 'messages', CHAT_COMPLETIONS: 'chat-completions' } as const;

function Conversation({ models, apiKey }: { models: Models; apiKey: string | null }) {
  const { t } = useLanguage();
  const [search] = useSearchParams();
  const wanted = search.get('model');
  const [modelId, setModelId] = useState(
    models.find((model) => model.modelId === wanted)?.modelId ?? models[0]?.modelId ?? '',
  );
  const [protocol, setProtocol] = useState<PlayProtocol>('messages');
  const [system, setSystem] = useState('');
  const [maxTokens, setMaxTokens] = useState('1024');
  const [draft, setDraft] = useState('');
  const { exchanges, send, stop, clear } = useExchanges(apiKey);
  const running = exchanges.at(-1)?.state === 'running';
  const model = models.find((each) => each.modelId === modelId);

  const submit = () => {
    const text = draft.trim();
    if (text === '' || running || apiKey === null) return;
    const turns = exchanges
      .filter(({ state, text: answer }) => state !== 'failed' && answer !== '')
      .flatMap(({ request, text: answer }) => [
        { role: 'user' as const, text: request.turns.at(-1)?.text ?? '' },
        { role: 'assistant' as const, text: answer },
      ]);
    send({
      protocol,
      model: modelId,
      system: system.trim(),
      maxTokens: Math.max(1, Math.floor(Number(maxTokens)) || 1024),
      turns: [...turns, { role: 'user', text }],
    });
    setDraft('');
  };

  return (
    <div className="playground">
      <Card title={t.playground.settings}>
        <SelectField
          label={t.models.model}
          value={modelId}
          onChange={setModelId}
          options={models.map((each) => ({ value: each.modelId, label: each.modelId }))}
          hint={model?.simulated === true ? t.models.simulatedHint : undefined}
        />
        <Choice
          label={t.activity.protocol}
          value={protocol}
          onChange={(value) => setProtocol(value as PlayProtocol)}
          options={(['MESSAGES', 'CHAT_COMPLETIONS'] as const).map((name) => ({
            value: protocolOf[name],
            label: t.protocols[name],
          }))}
        />
        <TextField
          label={t.playground.maxTokens}
          type="number"
          min={1}
          max={model?.maxOutputTokens}
          value={maxTokens}
          onChange={setMaxTokens}
        />
        <TextArea label={t.playground.system} rows={3} value={system} onChange={setSystem} />
      </Card>
      <section className="chat" aria-label={t.playground.conversation}>
        {exchanges.length === 0 ? <Empty title={t.playground.empty}>{t.playground.nothingStored}</Empty> : null}
        {exchanges.map((exchange, index) => (
          <ExchangeView key={index} exchange={exchange} />
        ))}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <TextArea
            label={t.playground.message}
            hint={apiKey === null ? t.playground.needsKey : t.playground.enterHint}
            rows={3}
            value={draft}
            onChange={setDraft}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
            }}
          />
          <div className="actions">
            {exchanges.length > 0 && !running ? (
              <Button look="quiet" onClick={clear}>
                {t.playground.clear}
              </Button>
            ) : null}
            {running ? (
              <Button onClick={stop}>{t.playground.stop}</Button>
            ) : (
              <Button type="submit" look="primary" disabled={apiKey === null || draft.trim() === ''}>
                {t.playground.send}
              </Button>
            )}
          </div>
        </form>
      </section>
    </div>
  );
}

/** The exchanges so far. Their parts change with every event; the page is drawn again once a frame. */
function useExchanges(apiKey: string | null) {
  const exchanges = useRef<Exchange[]>([]);
  const running = useRef<Play>(null);
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const frame = useRef(0);
  const soon = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(draw);
  };
  useEffect(
    () => () => {
      cancelAnimationFrame(frame.current);
      running.current?.abort();
    },
    [],
  );

  const run = async (request: PlayRequest, secret: string) => {
    const exchange: Exchange = {
      request,
      text: '',
      thinking: '',
      events: [],
      state: 'running',
      error: null,
      startedAt: performance.now(),
      firstAfterMs: null,
      tookMs: null,
      cost: null,
      requestId: null,
    };
    exchanges.current = [...exchanges.current, exchange];
    draw();
    const exchanging = play(createModelClient(location.origin, secret), request);
    running.current = exchanging;
    try {
      for await (const { event, text, thinking } of exchanging.pieces) {
        exchange.firstAfterMs ??= Math.round(performance.now() - exchange.startedAt);
        exchange.events.push(event);
        exchange.text += text;
        exchange.thinking += thinking;
        soon();
      }
      exchange.state = 'done';
    } catch (error) {
      if (exchange.state === 'running') exchange.state = 'failed';
      exchange.error = exchange.state === 'failed' ? error : null;
    }
    exchange.tookMs = Math.round(performance.now() - exchange.startedAt);
    exchange.requestId = await exchanging.requestId().catch(() => null);
    soon();
    if (exchange.state === 'done') {
      exchange.cost = await exchanging.cost().catch(() => null);
      soon();
    }
  };

  return {
    exchanges: exchanges.current,
    send: (request: PlayRequest) => {
      if (apiKey !== null) void run(request, apiKey);
    },
    stop: () => {
      const last = exchanges.current.at(-1);
      if (last?.state === 'running') last.state = 'stopped';
      running.current?.abort();
      soon();
    },
    clear: () => {
      exchanges.current = [];
      draw();
    },
  };
}

function ExchangeView({ exchange }: { exchange: Exchange }) {
  const { t } = useLanguage();
  const { request, text, thinking, state, error } = exchange;
  return (
    <article className="exchange">
      <p className="said user">
        <span className="sr-only">{t.playground.you}: </span>
        {request.turns.at(-1)?.text}
      </p>
      {thinking === '' ? null : (
        <details>
          <summary>{t.playground.thinking}</summary>
          <p className="thinking">{thinking}</p>
        </details>
      )}
      <p className="said answer" aria-busy={state === 'running'} aria-live={state === 'running' ? 'off' : 'polite'}>
        <span className="sr-only">{request.model}: </span>
        {text}
        {state === 'running' && text === '' ? <span className="pulse" aria-hidden="true" /> : null}
      </p>
      {state === 'stopped' ? <Badge tone="warn">{t.playground.stopped}</Badge> : null}
      {error === null ? null : <Failure error={error} />}
      <Facts exchange={exchange} />
      <Raw exchange={exchange} />
    </article>
  );
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
            input: format.number(cost.entry.usage.input_tokens),
            cache: format.number(cost.entry.usage.cache_hit_tokens),
            output: format.number(cost.entry.usage.output_tokens),
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

/** The request and the events as they went over the wire, without the key. Put together when somebody looks. */
function Raw({ exchange }: { exchange: Exchange }) {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  const { request, events } = exchange;
  const sent = useMemo(
    () =>
      [
        `POST ${pathOf(request.protocol)}`,
        'authorization: Bearer sk-steyg-…',
        '',
        JSON.stringify(bodyOf(request), null, 2),
      ].join('\n'),
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
