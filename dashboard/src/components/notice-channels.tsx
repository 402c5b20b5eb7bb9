/** Channels of notices, of an account or of the business: chat programs beside mail and webhooks. */

import type { CreateNoticeChannelInput, ListNoticeChannelsAnswer, NoticeKind, Steyg } from '@steyg/sdk';
import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useExplain, useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { Confirm, Dialog } from './dialog.tsx';
import { Checkbox, SelectField, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { SecretDialog } from './new-key.tsx';
import { Badge, Fold } from './page.tsx';
import { Empty, Loaded } from './states.tsx';
import { Table } from './table.tsx';
import { useSay } from './toasts.tsx';

type Channel = NonNullable<ListNoticeChannelsAnswer>[number];
type Kind = NonNullable<Channel['kind']>;
/** Null: the business. */
type Owner = string | null;

export const accountKinds = [
  'BALANCE_LOW',
  'BALANCE_EXHAUSTED',
  'GRANT_EXPIRING',
  'TRIAL_ENDING',
  'BURN_RATE',
  'KEY_LIMIT_NEAR',
  'PRICE_CHANGED',
  'MODEL_INCIDENT',
  'NEW_SIGN_IN',
  'RECOVERED',
] as const;
export const businessKinds = [
  'SHORTFALL',
  'UPSTREAM_FAILING',
  'TRANSFER_WAITING',
  'MARGIN_LOW',
  'BILL_DIFFERS',
  'BILL_MISSING',
  'RECOVERED',
] as const;

/** The operations of an owner's channels. */
function callsOf(steyg: Steyg, owner: Owner) {
  const { accounts, operator } = steyg.console;
  return owner === null
    ? {
        list: (signal: AbortSignal) => operator.listBusinessChannels({}, { signal }),
        create: operator.createBusinessChannel.bind(operator),
        update: operator.updateBusinessChannel.bind(operator),
        remove: operator.deleteBusinessChannel.bind(operator),
        test: operator.testBusinessChannel.bind(operator),
      }
    : {
        list: (signal: AbortSignal) => accounts.listNoticeChannels({ accountId: owner }, { signal }),
        create: accounts.createNoticeChannel.bind(accounts),
        update: accounts.updateNoticeChannel.bind(accounts),
        remove: accounts.deleteNoticeChannel.bind(accounts),
        test: accounts.testNoticeChannel.bind(accounts),
      };
}

export function NoticeChannels({ owner, mayChange }: { owner: Owner; mayChange: boolean }) {
  const { t, format } = useLanguage();
  const say = useSay();
  const explain = useExplain();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Channel | null>(null);
  const [signing, setSigning] = useState<string | null>(null);
  const key = ['notice-channels', owner ?? ''];
  const channels = useAsk({ key, ask: (steyg, signal) => callsOf(steyg, owner).list(signal) });
  const stateOf = (list: readonly Channel[]) => {
    const failing = list.find(({ enabled, problem }) => enabled && problem !== null);
    if (failing !== undefined) return <Badge tone="bad">{fill(t.channels.failing, { name: failing.name })}</Badge>;
    return list.length === 0 ? t.notices.unset : format.list(list.map(({ name }) => name));
  };
  const fail = { onError: (error: unknown) => say(explain(error).sentence, 'bad') };
  const test = useChange({
    change: (steyg, id: string) => callsOf(steyg, owner).test({ id }),
    refresh: [key],
    done: ({ problem }) =>
      problem === null ? say(t.channels.arrived) : say(fill(t.channels.failed, { problem }), 'bad'),
  });
  const change = useChange({
    change: (steyg, input: { id: string; enabled: boolean }) => callsOf(steyg, owner).update({ input }),
    refresh: [key],
  });
  const remove = useChange({
    change: (steyg, id: string) => callsOf(steyg, owner).remove({ id }),
    refresh: [key],
  });
  return (
    <Fold title={t.channels.title} state={channels.data == null ? undefined : stateOf(channels.data)}>
      <div className="row-line">
        <p className="hint">{t.channels.lead}</p>
        {mayChange ? (
          <Button small onClick={() => setAdding(true)}>
            {t.channels.add}
          </Button>
        ) : null}
      </div>
      <Loaded query={channels}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={t.channels.none} />
          ) : (
            <Table
              caption={t.channels.title}
              rows={list}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.keys.name,
                  names: true,
                  cell: ({ name, kind, target }) => (
                    <>
                      {name}
                      <span className="note">
                        {t.channels.kinds[kind ?? 'OTHER']} {target}
                      </span>
                    </>
                  ),
                },
                {
                  head: t.webhooks.state,
                  cell: ({ enabled, problem }) =>
                    problem === null || !enabled ? (
                      <Badge tone={enabled ? 'usual' : 'plain'}>{enabled ? t.webhooks.on : t.webhooks.off}</Badge>
                    ) : (
                      <Badge tone="bad">{problem}</Badge>
                    ),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (channel) =>
                    mayChange ? (
                      <div className="row-actions wrap">
                        <Button small busy={test.isPending} onClick={() => test.mutate(channel.id, fail)}>
                          {t.webhooks.test}
                        </Button>
                        <Button
                          small
                          busy={change.isPending}
                          onClick={() => change.mutate({ id: channel.id, enabled: !channel.enabled }, fail)}
                        >
                          {channel.enabled ? t.channels.turnOff : t.channels.turnOn}
                        </Button>
                        <Button small look="danger" onClick={() => setRemoving(channel)}>
                          {t.common.delete}
                        </Button>
                      </div>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Loaded>
      {adding ? <ChannelDialog owner={owner} onClose={() => setAdding(false)} onSigning={setSigning} /> : null}
      {removing === null ? null : (
        <Confirm
          title={t.channels.deleteTitle}
          action={t.common.delete}
          busy={remove.isPending}
          onClose={() => setRemoving(null)}
          onConfirm={() => remove.mutate(removing.id, { ...fail, onSettled: () => setRemoving(null) })}
        >
          <p>{removing.name}</p>
        </Confirm>
      )}
      {signing === null ? null : (
        <SecretDialog
          title={t.webhooks.secretTitle}
          secret={signing}
          what={t.webhooks.secret}
          onClose={() => setSigning(null)}
        />
      )}
    </Fold>
  );
}

const channelKinds: readonly Kind[] = ['TELEGRAM', 'SLACK', 'DISCORD', 'ZALO'];
const locales = [
  { value: 'en', label: 'English' },
  { value: 'vi', label: 'Tiếng Việt' },
];

interface Draft {
  name: string;
  secret: string;
  target: string;
  locale: string;
  appId: string;
  appSecret: string;
}

function ChannelDialog({
  owner,
  onClose,
  onSigning,
}: {
  owner: Owner;
  onClose: () => void;
  onSigning: (secret: string | null) => void;
}) {
  const { t, locale } = useLanguage();
  const [kind, setKind] = useState<Kind>('TELEGRAM');
  const [draft, setDraft] = useState<Draft>({
    name: '',
    secret: '',
    target: '',
    locale,
    appId: '',
    appSecret: '',
  });
  const [chosen, setChosen] = useState<NoticeKind[]>([]);
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const create = useChange({
    change: (steyg, input: CreateNoticeChannelInput) => callsOf(steyg, owner).create({ input }),
    refresh: [['notice-channels', owner ?? '']],
    done: (made) => {
      onClose();
      onSigning(made.signing);
    },
  });
  const { fields, rest } = useProblems(create.error, ['name', 'secret', 'target', 'zaloAppId', 'zaloAppSecret']);
  const known: readonly NoticeKind[] = owner === null ? businessKinds : accountKinds;
  return (
    <Dialog title={t.channels.add} onClose={onClose}>
      <Form
        onSubmit={() =>
          create.mutate({
            ...(owner === null ? {} : { accountId: owner }),
            kind,
            name: draft.name.trim(),
            secret: draft.secret.trim(),
            target: draft.target.trim(),
            language: draft.locale === 'vi' ? 'VI' : 'EN',
            kinds: chosen,
            ...(kind === 'ZALO' ? { zaloAppId: draft.appId.trim(), zaloAppSecret: draft.appSecret.trim() } : {}),
          })
        }
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={create.isPending}>
              {t.common.add}
            </Button>
          </>
        }
      >
        <SelectField
          label={t.channels.kind}
          value={kind}
          onChange={(value) => setKind(value as Kind)}
          options={(owner === null ? [...channelKinds, 'WEBHOOK' as const] : channelKinds).map((value) => ({
            value,
            label: t.channels.kinds[value],
          }))}
        />
        <p className="hint">{t.channels.steps[kind]}</p>
        <TextField
          label={t.keys.name}
          required
          maxLength={80}
          value={draft.name}
          onChange={(name) => set({ name })}
          error={fields['name']}
        />
        <TextField
          label={t.channels.secrets[kind]}
          hint={t.channels.sealed}
          type="password"
          autoComplete="off"
          required
          value={draft.secret}
          onChange={(secret) => set({ secret })}
          error={fields['secret']}
        />
        {kind === 'TELEGRAM' || kind === 'ZALO' ? (
          <TextField
            label={kind === 'ZALO' ? t.channels.user : t.channels.chat}
            required
            value={draft.target}
            onChange={(target) => set({ target })}
            error={fields['target']}
          />
        ) : null}
        {kind === 'ZALO' ? (
          <>
            <TextField
              label={t.channels.appId}
              required
              value={draft.appId}
              onChange={(appId) => set({ appId })}
              error={fields['zaloAppId']}
            />
            <TextField
              label={t.channels.appSecret}
              type="password"
              autoComplete="off"
              required
              value={draft.appSecret}
              onChange={(appSecret) => set({ appSecret })}
              error={fields['zaloAppSecret']}
            />
          </>
        ) : null}
        <SelectField
          label={t.channels.language}
          value={draft.locale}
          onChange={(value) => set({ locale: value })}
          options={locales}
        />
        <KindChoice legend={t.channels.only} kinds={known} chosen={chosen} onChange={setChosen} />
      </Form>
    </Dialog>
  );
}

/** The kinds that are not sent, among all of an owner's. */
export function MutedKinds({
  kinds,
  muted,
  onChange,
}: {
  kinds: readonly NoticeKind[];
  muted: readonly NoticeKind[];
  onChange: (muted: NoticeKind[]) => void;
}) {
  const { t, count } = useLanguage();
  const off = kinds.filter((kind) => muted.includes(kind)).length;
  return (
    <Fold inForm title={t.notices.kindsTitle} state={off === 0 ? t.notices.allKinds : count(t.notices.mutedState, off)}>
      <KindChoice legend={t.notices.muted} kinds={kinds} chosen={muted} onChange={onChange} />
    </Fold>
  );
}

/** A choice among kinds of notices. */
function KindChoice({
  legend,
  kinds,
  chosen,
  onChange,
}: {
  legend: string;
  kinds: readonly NoticeKind[];
  chosen: readonly NoticeKind[];
  onChange: (chosen: NoticeKind[]) => void;
}) {
  const { t } = useLanguage();
  return (
    <fieldset className="group">
      <legend>{legend}</legend>
      {kinds.map((kind) => (
        <Checkbox
          key={kind}
          label={t.channels.kindNames[kind]}
          checked={chosen.includes(kind)}
          onChange={(checked) => onChange(checked ? [...chosen, kind] : chosen.filter((each) => each !== kind))}
        />
      ))}
    </fieldset>
  );
}
