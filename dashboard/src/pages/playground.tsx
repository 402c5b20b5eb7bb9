/** The playground: conversations with models in the browser. */

import type { ModelsAnswer } from '@steyg/sdk';
import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { EstimateView } from '../components/estimate-view.tsx';
import { ExchangeView } from '../components/exchange.tsx';
import { Choice, SelectField, TextArea, TextField } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import { ImageMaker } from '../components/image-maker.tsx';
import { useCreateKey } from '../components/new-key.tsx';
import { Card, Page } from '../components/page.tsx';
import { PicturePicker } from '../components/picture-picker.tsx';
import { Empty, FailureNotice, Loaded } from '../components/states.tsx';
import { useAsk } from '../data.tsx';
import { type Exchange, useExchanges } from '../exchanges.ts';
import { masked } from '../format.ts';
import { useMedia } from '../hooks.ts';
import { imageTexts } from '../language/images.ts';
import { useLanguage } from '../language/language.tsx';
import { type Picture, type PlayProtocol, type PlayRequest, protocolNames, type Turn } from '../play.ts';
import { useAbilities, useAccount, useSession } from '../session.tsx';

type Models = NonNullable<ModelsAnswer>;

/** The key of this tab: in memory only, dropped with the tab, and bound to the person and account it was made for. */
const tab: { owner: string; key: string | null } = { owner: '', key: null };
/** A key made for a tab expires soon, and has a small limit. */
const tabKeyMs = 3_600_000;
const tabKeyUsd = '1';

export default function Playground() {
  const { t } = useLanguage();
  const { person } = useSession();
  const account = useAccount();
  const owner = `${person.id} ${account.id}`;
  const [key, setKey] = useState(() => (tab.owner === owner ? tab.key : null));
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  const use = (secret: string | null) => {
    tab.owner = owner;
    tab.key = secret;
    setKey(secret);
  };
  return (
    <Page title={t.playground.title} lead={t.playground.lead}>
      <KeyCard apiKey={key} onUse={use} />
      <Loaded query={models}>{(all) => <Trials models={all} apiKey={key} onOtherKey={() => use(null)} />}</Loaded>
    </Page>
  );
}

/** Conversations, and images where there are models of them. */
function Trials({ models, apiKey, onOtherKey }: { models: Models; apiKey: string | null; onOtherKey: () => void }) {
  const { t, locale } = useLanguage();
  const texts = imageTexts[locale];
  const [search] = useSearchParams();
  const wanted = search.get('model');
  const talking = models.filter(({ kind }) => kind === 'TEXT');
  const painting = models.filter(({ kind }) => kind === 'IMAGE');
  const [what, setWhat] = useState(
    talking.length === 0 || painting.some(({ modelId }) => modelId === wanted) ? 'images' : 'conversation',
  );
  if (talking.length + painting.length === 0) return <Empty title={t.models.empty} />;
  return (
    <>
      {talking.length === 0 || painting.length === 0 ? null : (
        <Choice
          label={texts.what}
          value={what}
          onChange={setWhat}
          options={(['conversation', 'images'] as const).map((value) => ({ value, label: texts[value] }))}
        />
      )}
      {what === 'images' && painting.length > 0 ? (
        <ImageMaker models={painting} wanted={wanted} apiKey={apiKey} />
      ) : (
        <Conversation models={talking} apiKey={apiKey} onOtherKey={onOtherKey} />
      )}
    </>
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
          {t.playground.keyInUse} <code>{masked(apiKey.slice(-4))}</code>
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
      {create.error === null ? null : <FailureNotice error={create.error} />}
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

function Conversation({
  models,
  apiKey,
  onOtherKey,
}: {
  models: Models;
  apiKey: string | null;
  onOtherKey: () => void;
}) {
  const { t } = useLanguage();
  const [search] = useSearchParams();
  const wanted = search.get('model');
  const [modelId, setModelId] = useState(
    models.find((model) => model.modelId === wanted)?.modelId ?? models[0]?.modelId ?? '',
  );
  const [protocol, setProtocol] = useState<PlayProtocol>('messages');
  const [system, setSystem] = useState('');
  const [maxTokens, setMaxTokens] = useState('1024');
  const isNarrow = useMedia('(max-width: 60rem)');
  const [open, setOpen] = useState(false);
  const { exchanges, send, drop, stop, clear } = useExchanges(apiKey);
  const last = exchanges.at(-1);
  const running = last?.state === 'running';
  const model = models.find((each) => each.modelId === modelId);

  /** The conversation continues with the model that is chosen now. */
  const requestOf = (turns: readonly Turn[]): PlayRequest => ({
    protocol,
    model: modelId,
    system: system.trim(),
    maxTokens: Math.max(1, Math.floor(Number(maxTokens)) || 1024),
    turns,
  });
  const ask = (turns: readonly Turn[]) => send(requestOf(turns));
  const again = (failed: Exchange) => {
    drop(failed);
    ask(failed.request.turns);
  };

  useFollow(exchanges);

  const settings = (
    <>
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
        options={(['messages', 'chat-completions'] as const).map((value) => ({
          value,
          label: t.protocols[protocolNames[value]],
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
    </>
  );
  return (
    <div className="playground">
      {isNarrow ? (
        <p className="play-head">
          <span>
            <code>{modelId}</code> · {t.protocols[protocolNames[protocol]]}
          </span>
          <Button small aria-haspopup="dialog" onClick={() => setOpen(true)}>
            <Icon name="settings" />
            {t.playground.settings}
          </Button>
        </p>
      ) : (
        <Card title={t.playground.settings}>{settings}</Card>
      )}
      {isNarrow && open ? (
        <Dialog title={t.playground.settings} drawer onClose={() => setOpen(false)}>
          {settings}
          <div className="actions">
            <Button look="primary" onClick={() => setOpen(false)}>
              {t.common.done}
            </Button>
          </div>
        </Dialog>
      ) : null}
      <section className="chat" aria-label={t.playground.conversation}>
        {exchanges.length === 0 ? <Empty title={t.playground.empty}>{t.playground.nothingStored}</Empty> : null}
        {exchanges.map((exchange) => (
          <ExchangeView
            key={exchange.id}
            exchange={exchange}
            onAgain={exchange === last && apiKey !== null ? () => again(exchange) : undefined}
            onOtherKey={onOtherKey}
          />
        ))}
        <p className="sr-only" role="status">
          {last === undefined ? '' : t.playground.states[last.state]}
        </p>
        <Composer
          apiKey={apiKey}
          running={running}
          pictures={model?.capabilities.includes('vision') === true}
          requestOf={(turn) => requestOf([...turnsOf(exchanges), turn])}
          onSend={send}
          onStop={stop}
          {...(exchanges.length > 0 && !running ? { onClear: clear } : {})}
        />
      </section>
    </div>
  );
}

/** Distance from the end that counts as the end: several lines may arrive at once. */
const nearPixels = 240;

/** Follows the end of a growing answer, unless the reader has scrolled up. */
function useFollow(exchanges: readonly Exchange[]): void {
  const last = exchanges.at(-1);
  const count = useRef(0);
  useEffect(() => {
    const { scrollHeight } = document.documentElement;
    const asked = exchanges.length > count.current;
    count.current = exchanges.length;
    if (asked || (exchanges.length > 0 && scrollHeight - innerHeight - scrollY < nearPixels)) {
      window.scrollTo(0, scrollHeight);
    }
    // Everything that makes the last exchange longer.
  }, [exchanges.length, last?.text, last?.thinking, last?.state, last?.cost]);
}

/** The conversation so far. The received part of a broken answer counts: people read it too. */
function turnsOf(exchanges: readonly Exchange[]): Turn[] {
  return exchanges.flatMap(({ request, text }) => {
    const asked = request.turns.at(-1);
    return asked === undefined || text === '' ? [] : [asked, { role: 'assistant', text }];
  });
}

function Composer({
  apiKey,
  running,
  pictures: takesPictures,
  requestOf,
  onSend,
  onStop,
  onClear,
}: {
  /** The key to send with. */
  apiKey: string | null;
  running: boolean;
  /** Whether the model accepts pictures. */
  pictures: boolean;
  requestOf: (turn: Turn) => PlayRequest;
  onSend: (request: PlayRequest) => void;
  onStop: () => void;
  onClear?: () => void;
}) {
  const { t } = useLanguage();
  const [draft, setDraft] = useState('');
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const form = useRef<HTMLFormElement>(null);
  const hasKeyboard = useMedia('(hover: hover)');
  const ready = apiKey !== null;
  const text = draft.trim();
  const sending = takesPictures ? pictures : [];
  const request =
    text === '' || !ready
      ? null
      : requestOf({ role: 'user', text, ...(sending.length === 0 ? {} : { pictures: sending }) });
  const submit = () => {
    if (request === null || running) return;
    onSend(request);
    setDraft('');
    setPictures([]);
    // The focus stays in the input for the next question.
    form.current?.querySelector('textarea')?.focus();
  };

  return (
    <form
      ref={form}
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextArea
        label={t.playground.message}
        hint={ready ? (hasKeyboard ? t.playground.enterHint : undefined) : t.playground.needsKey}
        rows={2}
        value={draft}
        onChange={setDraft}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
        }}
      />
      <div className="actions">
        {takesPictures ? <PicturePicker pictures={pictures} onChange={setPictures} /> : null}
        {onClear === undefined ? null : (
          <Button look="quiet" onClick={onClear}>
            {t.playground.clear}
          </Button>
        )}
        {/* Two buttons, not one that changes: the second press of a double click must not stop what the first one sent. */}
        {running ? (
          <Button key="stop" onClick={onStop}>
            {t.playground.stop}
          </Button>
        ) : (
          <Button key="send" type="submit" look="primary" disabled={request === null}>
            {t.playground.send}
          </Button>
        )}
      </div>
      {apiKey === null ? null : <EstimateView apiKey={apiKey} request={request} />}
    </form>
  );
}
