/** The page of an account's notices and webhooks. */

import type { ListEndpointsAnswer, WebhookEvent } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Code } from '../components/copy.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { SecretDialog } from '../components/new-key.tsx';
import { NoticeChannels } from '../components/notice-channels.tsx';
import { NoticeItem } from '../components/notice-item.tsx';
import { NoticeSettingsCard } from '../components/notice-settings.tsx';
import { Badge, Card, Fold, Folds, Page } from '../components/page.tsx';
import { Banner, Empty, Loaded, More } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useSay } from '../components/toasts.tsx';
import { useAsk, useChange, usePages } from '../data.tsx';
import { useExplain, useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { useAbilities, useAccount } from '../session.tsx';

/** The events that webhooks can carry, by what bodies have as `type`. */
const events: Readonly<Record<string, WebhookEvent>> = {
  'balance.low': 'BALANCE_LOW',
  'balance.exhausted': 'BALANCE_EXHAUSTED',
  'grant.expiring': 'GRANT_EXPIRING',
  'trial.ending': 'TRIAL_ENDING',
  'spend.burn_rate': 'SPEND_BURN_RATE',
  'key.limit_near': 'KEY_LIMIT_NEAR',
  'price.changed': 'PRICE_CHANGED',
  'model.incident': 'MODEL_INCIDENT',
  'sign_in.new': 'SIGN_IN_NEW',
  'order.partial': 'ORDER_PARTIAL',
  'order.paid': 'ORDER_PAID',
  'webhook.test': 'WEBHOOK_TEST',
};

const nameOf = (event: WebhookEvent | null) =>
  Object.keys(events).find((name) => events[name] === event) ?? event ?? '?';

type Endpoint = NonNullable<ListEndpointsAnswer>[number];

export default function Notices() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const notices = usePages({
    key: ['notices', accountId],
    ask: (steyg, after, signal) => steyg.console.accounts.listNotices({ accountId, after, first: 50 }, { signal }),
    every: 60_000,
  });
  return (
    <Page title={t.notices.title} lead={t.notices.lead}>
      <div className="columns">
        <NoticeSettingsCard />
        <Card title={t.notices.told}>
          <Loaded query={notices}>
            {(list) =>
              list.length === 0 ? (
                <Empty title={t.notices.none}>{t.notices.noneText}</Empty>
              ) : (
                <ul className="notices">
                  {list.map((notice) => (
                    <NoticeItem key={notice.id} notice={notice} />
                  ))}
                </ul>
              )
            }
          </Loaded>
          <More query={notices} />
        </Card>
      </div>
      <Folds>
        <NoticeChannels owner={accountId} mayChange={billing} />
        <Webhooks />
      </Folds>
    </Page>
  );
}

const hostOf = (url: string) => URL.parse(url)?.host ?? url;

type Open = { what: 'add' } | { what: 'edit' | 'delete' | 'deliveries'; endpoint: Endpoint };

function Webhooks() {
  const { t, format } = useLanguage();
  const say = useSay();
  const explain = useExplain();
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const [open, setOpen] = useState<Open | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const key = ['endpoints', accountId];
  const endpoints = useAsk({
    key,
    ask: (steyg, signal) => steyg.console.webhooks.listEndpoints({ accountId }, { signal }),
  });
  const test = useChange({
    change: (steyg, id: string) => steyg.console.webhooks.sendTestWebhook({ id }),
    refresh: [['deliveries']],
    done: () => say(t.webhooks.tested),
  });
  const rotate = useChange({
    change: (steyg, id: string) => steyg.console.webhooks.rotateWebhookSecret({ id }),
    done: (result) => setSecret(result.secret),
  });
  const remove = useChange({
    change: (steyg, id: string) => steyg.console.webhooks.deleteWebhookEndpoint({ id }),
    refresh: [key],
  });
  const close = () => setOpen(null);
  const fail = { onError: (error: unknown) => say(explain(error).sentence, 'bad') };
  return (
    <Fold
      title={t.webhooks.title}
      state={
        endpoints.data == null
          ? undefined
          : endpoints.data.length === 0
            ? t.notices.unset
            : format.list(endpoints.data.map(({ url }) => hostOf(url)))
      }
    >
      <div className="row-line">
        <p className="hint">{t.webhooks.lead}</p>
        {billing ? (
          <Button small onClick={() => setOpen({ what: 'add' })}>
            {t.webhooks.add}
          </Button>
        ) : null}
      </div>
      <Loaded query={endpoints}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={t.webhooks.none}>{t.webhooks.noneText}</Empty>
          ) : (
            <Table
              caption={t.webhooks.title}
              rows={list}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.webhooks.url,
                  names: true,
                  cell: ({ url, description }) => (
                    <>
                      <code>{url}</code>
                      <span className="note">{description}</span>
                    </>
                  ),
                },
                {
                  head: t.webhooks.events,
                  cell: ({ events: heard }) =>
                    heard.length === 0 ? t.webhooks.allEvents : format.list(heard.map(nameOf)),
                },
                {
                  head: t.webhooks.state,
                  cell: ({ enabled }) => (
                    <Badge tone={enabled ? 'usual' : 'plain'}>{enabled ? t.webhooks.on : t.webhooks.off}</Badge>
                  ),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (endpoint) => (
                    <div className="row-actions wrap">
                      <Button small onClick={() => setOpen({ what: 'deliveries', endpoint })}>
                        {t.webhooks.deliveries}
                      </Button>
                      {billing ? (
                        <>
                          <Button small busy={test.isPending} onClick={() => test.mutate(endpoint.id, fail)}>
                            {t.webhooks.test}
                          </Button>
                          <Button small onClick={() => setOpen({ what: 'edit', endpoint })}>
                            {t.common.edit}
                          </Button>
                          <Button small busy={rotate.isPending} onClick={() => rotate.mutate(endpoint.id, fail)}>
                            {t.webhooks.rotate}
                          </Button>
                          <Button small look="danger" onClick={() => setOpen({ what: 'delete', endpoint })}>
                            {t.common.delete}
                          </Button>
                        </>
                      ) : null}
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {open?.what === 'add' ? <EndpointDialog endpoint={null} onClose={close} onSecret={setSecret} /> : null}
      {open?.what === 'edit' ? <EndpointDialog endpoint={open.endpoint} onClose={close} onSecret={setSecret} /> : null}
      {open?.what === 'deliveries' ? <Deliveries endpoint={open.endpoint} onClose={close} /> : null}
      {open?.what === 'delete' ? (
        <Confirm
          title={t.webhooks.deleteTitle}
          action={t.common.delete}
          busy={remove.isPending}
          onClose={close}
          onConfirm={() => remove.mutate(open.endpoint.id, { ...fail, onSettled: close })}
        >
          <p>
            <code>{open.endpoint.url}</code>
          </p>
        </Confirm>
      ) : null}
      {secret === null ? null : (
        <SecretDialog
          title={t.webhooks.secretTitle}
          secret={secret}
          what={t.webhooks.secret}
          onClose={() => setSecret(null)}
        />
      )}
    </Fold>
  );
}

function EndpointDialog({
  endpoint,
  onClose,
  onSecret,
}: {
  endpoint: Endpoint | null;
  onClose: () => void;
  onSecret: (secret: string) => void;
}) {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [heard, setHeard] = useState<readonly WebhookEvent[]>(endpoint?.events ?? []);
  const [enabled, setEnabled] = useState(endpoint?.enabled ?? true);
  const refresh = [['endpoints', accountId]];
  const add = useChange({
    change: (steyg, input: { url: string; description: string; events: WebhookEvent[] }) =>
      steyg.console.webhooks.createWebhookEndpoint({ input: { ...input, accountId } }),
    refresh,
    done: (made) => {
      onClose();
      onSecret(made.secret);
    },
  });
  const update = useChange({
    change: (
      steyg,
      input: { id: string; url: string; description: string; events: WebhookEvent[]; enabled: boolean },
    ) => steyg.console.webhooks.updateWebhookEndpoint({ input }),
    refresh,
    done: onClose,
  });
  const error = add.error ?? update.error;
  const { fields, rest } = useProblems(error, ['url', 'description']);
  return (
    <Dialog title={endpoint === null ? t.webhooks.add : t.webhooks.edit} onClose={onClose}>
      <Form
        onSubmit={() => {
          const input = { url: url.trim(), description: description.trim(), events: [...heard] };
          if (endpoint === null) add.mutate(input);
          else update.mutate({ ...input, id: endpoint.id, enabled });
        }}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={add.isPending || update.isPending}>
              {t.common.save}
            </Button>
          </>
        }
      >
        <TextField
          label={t.webhooks.url}
          hint={t.webhooks.urlHint}
          type="url"
          required
          value={url}
          onChange={setUrl}
          error={fields['url']}
        />
        <TextField
          label={t.webhooks.description}
          maxLength={200}
          value={description}
          onChange={setDescription}
          error={fields['description']}
        />
        <fieldset className="group">
          <legend>{t.webhooks.events}</legend>
          <p className="hint">{t.webhooks.eventsHint}</p>
          <div className="checks">
            {Object.entries(events).map(([name, event]) => (
              <Checkbox
                key={name}
                label={<code>{name}</code>}
                checked={heard.includes(event)}
                onChange={(checked) =>
                  setHeard([...heard.filter((each) => each !== event), ...(checked ? [event] : [])])
                }
              />
            ))}
          </div>
        </fieldset>
        {endpoint === null ? null : <Checkbox label={t.webhooks.enabled} checked={enabled} onChange={setEnabled} />}
      </Form>
    </Dialog>
  );
}

const tones = { DELIVERED: 'usual', PENDING: 'warn', FAILED: 'bad', OTHER: 'plain' } as const;

function Deliveries({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const { t, format } = useLanguage();
  const say = useSay();
  const explain = useExplain();
  const deliveries = usePages({
    key: ['deliveries', endpoint.id],
    ask: (steyg, after, signal) =>
      steyg.console.webhooks.listDeliveries({ id: endpoint.id, after, first: 20 }, { signal }),
    every: 5_000,
  });
  const replay = useChange({
    change: (steyg, id: string) => steyg.console.webhooks.replayWebhookDelivery({ id }),
    refresh: [['deliveries', endpoint.id]],
    done: () => say(t.webhooks.replayed),
  });
  return (
    <Dialog title={t.webhooks.deliveries} onClose={onClose} wide>
      <p>
        <code>{endpoint.url}</code>
      </p>
      <Loaded query={deliveries}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.webhooks.noDeliveries} />
          ) : (
            <ul className="notices">
              {rows.map((delivery) => (
                <li key={delivery.id}>
                  <div className="row-line">
                    <p>
                      <Badge tone={tones[delivery.status ?? 'OTHER']}>
                        {t.webhooks.statuses[delivery.status ?? 'OTHER']}
                      </Badge>{' '}
                      <code>{nameOf(delivery.event)}</code>{' '}
                      <span className="hint">{format.dateTime(delivery.createdAt)}</span>
                    </p>
                    <Button
                      small
                      busy={replay.isPending}
                      onClick={() =>
                        replay.mutate(delivery.id, { onError: (error) => say(explain(error).sentence, 'bad') })
                      }
                    >
                      {t.webhooks.replay}
                    </Button>
                  </div>
                  {delivery.nextAttemptAt === null ? null : (
                    <p className="hint">{fill(t.webhooks.next, { time: format.dateTime(delivery.nextAttemptAt) })}</p>
                  )}
                  {delivery.attempts.map((attempt) => (
                    <p key={attempt.createdAt} className="hint">
                      {fill(t.webhooks.attempt, {
                        time: format.time(attempt.createdAt),
                        status: attempt.status ?? '–',
                        problem: attempt.problem ?? t.webhooks.fine,
                        duration: format.milliseconds(attempt.durationMs),
                      })}
                    </p>
                  ))}
                  <details>
                    <summary>{t.webhooks.body}</summary>
                    <Code text={delivery.body} what={t.webhooks.body} />
                  </details>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <More query={deliveries} />
      <Banner>{t.webhooks.sameId}</Banner>
    </Dialog>
  );
}
