/** The operator's page of upstreams. */

import type { OnDisconnect, Protocol, UpstreamsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { Checkbox, SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Badge, Card, Page } from '../../components/page.tsx';
import { RouteTestButton } from '../../components/route-test.tsx';
import { Banner, Empty, Loaded, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { useExplain, useProblems } from '../../explain.ts';
import { asSent } from '../../known.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { pages, pathTo } from '../../pages.ts';

type Upstream = NonNullable<UpstreamsAnswer>[number];

const upstreamsKey = ['operator', 'upstreams'];

export default function Upstreams() {
  const { t } = useOperatorLanguage();
  const [editing, setEditing] = useState<Upstream | 'new' | null>(null);
  const upstreams = useAsk({
    key: upstreamsKey,
    ask: (steyg, signal) => steyg.console.operator.upstreams({}, { signal }),
    every: 10_000,
  });
  return (
    <Page
      title={t.nav.operatorUpstreams}
      lead={t.operator.upstreamsLead}
      actions={
        <>
          <Link href={pages.operatorVendors} className="button primary">
            {t.operator.anotherVendor}
          </Link>
          <Button takes="saveUpstream" onClick={() => setEditing('new')}>
            {t.operator.addUpstream}
          </Button>
        </>
      }
    >
      <Loaded query={upstreams} skeleton={<TableSkeleton />}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={t.operator.noUpstreams} />
          ) : (
            <>
              {list.map((upstream) => (
                <UpstreamCard key={upstream.id} upstream={upstream} onEdit={() => setEditing(upstream)} />
              ))}
            </>
          )
        }
      </Loaded>
      {editing === null ? null : (
        <UpstreamDialog upstream={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />
      )}
    </Page>
  );
}

/** The state of an upstream in this process. */
function Health({ upstream }: { upstream: Upstream }) {
  const { t } = useOperatorLanguage();
  const { health, enabled } = upstream;
  if (!enabled) return <Badge>{t.operator.disabled}</Badge>;
  if (health === null) return <Badge tone="usual">{t.operator.healthy}</Badge>;
  if (health.ejected) return <Badge tone="bad">{t.operator.ejected}</Badge>;
  if (health.consecutiveFailures > 0) {
    return <Badge tone="warn">{fill(t.operator.failing, { n: health.consecutiveFailures })}</Badge>;
  }
  if (health.pausedKeys > 0) return <Badge tone="warn">{fill(t.operator.resting, { n: health.pausedKeys })}</Badge>;
  return <Badge tone="usual">{t.operator.healthy}</Badge>;
}

function UpstreamCard({ upstream, onEdit }: { upstream: Upstream; onEdit: () => void }) {
  const { t, format } = useOperatorLanguage();
  const failure = useFailureToast();
  const [asking, setAsking] = useState(false);
  const change = useChange({
    change: (steyg, enabled: boolean) =>
      steyg.console.operator.setUpstreamEnabled({ upstreamId: upstream.upstreamId, enabled }),
    refresh: [upstreamsKey, ['models']],
  });
  const given = Object.entries(writtenFeatures(upstream.features));
  return (
    <Card
      title={upstream.upstreamId}
      actions={
        <div className="row-actions">
          <Button
            takes="saveUpstream"
            small
            onClick={onEdit}
            aria-label={fill(t.operator.editWhat, { name: upstream.upstreamId })}
          >
            {t.common.edit}
          </Button>
          <Button
            takes="setUpstreamEnabled"
            small
            look={upstream.enabled ? 'danger' : 'primary'}
            busy={change.isPending}
            onClick={() => (upstream.enabled ? setAsking(true) : change.mutate(true, failure))}
          >
            {upstream.enabled ? t.operator.switchOff : t.operator.switchOn}
          </Button>
        </div>
      }
    >
      <p>
        <Health upstream={upstream} /> {t.protocols[upstream.protocol ?? 'OTHER']} · <code>{upstream.baseUrl}</code>{' '}
        {upstream.simulated ? <Badge tone="warn">{t.models.simulated}</Badge> : null}
      </p>
      <p className="hint">
        {fill(t.operator.onDisconnect, { what: t.operator.disconnects[upstream.onDisconnect] })}
        {upstream.profile === null ? '' : ` · ${upstream.profile}`}
        {given.length === 0 ? '' : ` · ${given.map(([name, value]) => `${name}: ${String(value)}`).join(', ')}`}
      </p>
      <Keys upstream={upstream} />
      {upstream.routes.length === 0 ? (
        <Empty title={t.operator.noRoutesHere} />
      ) : (
        <Table
          caption={fill(t.operator.routesOf, { name: upstream.upstreamId })}
          rows={upstream.routes}
          rowKey={({ id }) => id}
          columns={[
            {
              head: t.models.model,
              names: true,
              cell: ({ entry: { modelId } }) => (
                <Link href={pathTo(pages.operatorModel, { modelId })}>
                  <code>{modelId}</code>
                </Link>
              ),
            },
            { head: t.operator.upstreamModel, cell: ({ upstreamModel }) => <code>{upstreamModel}</code> },
            { head: t.operator.priority, figure: true, cell: ({ priority }) => priority },
            { head: t.operator.weight, figure: true, cell: ({ weight }) => weight },
            {
              head: t.operator.costs,
              cell: ({ costs }) =>
                costs === null
                  ? '–'
                  : [costs.input, costs.cacheHit, costs.output].map((price) => format.usdExact(price)).join(' / '),
            },
            {
              head: t.operator.state,
              cell: ({ enabled }) => (
                <Badge tone={enabled ? 'usual' : 'plain'}>{enabled ? t.webhooks.on : t.webhooks.off}</Badge>
              ),
            },
            {
              head: t.common.actions,
              silentHead: true,
              cell: ({ id, entry }) => <RouteTestButton id={id} name={`${upstream.upstreamId}: ${entry.modelId}`} />,
            },
          ]}
        />
      )}
      {asking ? (
        <Confirm
          title={fill(t.operator.switchOffWhat, { name: upstream.upstreamId })}
          action={t.operator.switchOff}
          busy={change.isPending}
          onClose={() => setAsking(false)}
          onConfirm={() => change.mutate(false, { ...failure, onSettled: () => setAsking(false) })}
        >
          <p>{t.operator.upstreamOffText}</p>
        </Confirm>
      ) : null}
    </Card>
  );
}

function Keys({ upstream }: { upstream: Upstream }) {
  const { t, format } = useOperatorLanguage();
  const failure = useFailureToast();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Upstream['keys'][number] | null>(null);
  const remove = useChange({
    change: (steyg, keyId: string) =>
      steyg.console.operator.deleteUpstreamKey({ upstreamId: upstream.upstreamId, keyId }),
    refresh: [upstreamsKey],
  });
  if (upstream.simulated) return null;
  return (
    <div className="row-line">
      <ul className="inline" aria-label={t.operator.upstreamKeys}>
        {upstream.keys.map((key) => (
          <li key={key.id}>
            <code>…{key.last4}</code> <span className="hint">{format.date(key.createdAt)}</span>{' '}
            <Button
              takes="deleteUpstreamKey"
              small
              look="danger"
              aria-label={fill(t.operator.deleteKey, { last4: key.last4 })}
              onClick={() => setRemoving(key)}
            >
              {t.common.delete}
            </Button>
          </li>
        ))}
        {upstream.keys.length === 0 ? <li>{t.operator.noUpstreamKeys}</li> : null}
      </ul>
      <Button takes="addUpstreamKey" small onClick={() => setAdding(true)}>
        {t.operator.addKey}
      </Button>
      {adding ? <KeyDialog upstream={upstream} onClose={() => setAdding(false)} /> : null}
      {removing === null ? null : (
        <Confirm
          title={fill(t.operator.deleteKey, { last4: removing.last4 })}
          action={t.common.delete}
          busy={remove.isPending}
          onClose={() => setRemoving(null)}
          onConfirm={() => remove.mutate(removing.id, { ...failure, onSettled: () => setRemoving(null) })}
        >
          <p>{t.operator.deleteKeyText}</p>
        </Confirm>
      )}
    </div>
  );
}

function KeyDialog({ upstream, onClose }: { upstream: Upstream; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [secret, setSecret] = useState('');
  const add = useChange({
    change: (steyg, key: string) =>
      steyg.console.operator.addUpstreamKey({ upstreamId: upstream.upstreamId, secret: key }),
    refresh: [upstreamsKey],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  return (
    <Dialog title={fill(t.operator.addKeyTo, { name: upstream.upstreamId })} onClose={onClose}>
      <Form
        onSubmit={() => add.mutate(secret.trim())}
        error={add.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={add.isPending}>
              {t.common.add}
            </Button>
          </>
        }
      >
        <TextField
          label={t.operator.secret}
          hint={t.operator.secretHint}
          type="password"
          autoComplete="off"
          required
          value={secret}
          onChange={setSecret}
        />
      </Form>
    </Dialog>
  );
}

const protocols = ['MESSAGES', 'CHAT_COMPLETIONS', 'RESPONSES'] as const;
/** Features by the values that they take, as the API names both. */
const features = {
  maxTokensField: ['max_tokens', 'max_completion_tokens'],
  systemRole: ['keep', 'user', 'hoist'],
  toolChoice: ['named', 'required', 'auto'],
  cachedTokens: ['within', 'beside', 'overlapping'],
  minOutputTokens: 'number',
  files: 'flag',
  jsonObject: 'flag',
  jsonSchema: 'flag',
  sampling: 'flag',
  stop: 'flag',
  reasoningHistory: 'flag',
  effort: 'flag',
  thinkingSwitch: 'flag',
  store: 'flag',
  parallelCalls: 'flag',
  shortCallIds: 'flag',
  callSignatures: 'flag',
  imageUrls: 'flag',
  endUser: 'flag',
  usageOption: 'flag',
  traceContext: 'flag',
  hostedTools: 'flag',
} as const satisfies Record<string, readonly string[] | 'flag' | 'number'>;
type Feature = keyof typeof features;
type Written = string | number | boolean;
const featureNames = Object.keys(features) as Feature[];

/** Efforts as `saveUpstream` takes them. */
const efforts = { NONE: false, ALL: true, NAMED: 'named' } as const;

/** The features that differ at an upstream, in the words in which they are entered. */
function writtenFeatures(own: Upstream['features']): Partial<Record<Feature, Written>> {
  const written = featureNames.flatMap((name): [Feature, Written][] => {
    const value = own[name];
    if (value === null) return [];
    if (name === 'effort') return [[name, efforts[value as keyof typeof efforts]]];
    return [[name, typeof value === 'string' ? value.toLowerCase() : value]];
  });
  return Object.fromEntries(written);
}

interface Draft {
  upstreamId: string;
  protocol: Protocol;
  baseUrl: string;
  onDisconnect: OnDisconnect;
  enabled: boolean;
  secret: string;
  /** Empty: no vendor with a profile. */
  profile: string;
  /** Who receives the requests and in which country; empty: as the profile says. */
  recipient: string;
  country: string;
  /** As text; empty: what the vendor or the protocol has. */
  features: Record<Feature, string>;
}

function draftOf(upstream: Upstream | null): Draft {
  const given = upstream === null ? {} : writtenFeatures(upstream.features);
  const texts = featureNames.map((name) => [name, String(given[name] ?? '')]);
  return {
    upstreamId: upstream?.upstreamId ?? '',
    protocol: upstream?.protocol ?? 'CHAT_COMPLETIONS',
    baseUrl: upstream?.baseUrl ?? '',
    onDisconnect: upstream?.onDisconnect ?? 'ABORT',
    enabled: upstream?.enabled ?? true,
    secret: '',
    profile: upstream?.profile ?? '',
    recipient: upstream?.recipient ?? '',
    country: upstream?.country ?? '',
    features: Object.fromEntries(texts) as Draft['features'],
  };
}

/** The features of a draft as the API takes them; what is empty is left out. */
function featuresOf(draft: Draft): Record<string, string | number | boolean> {
  const given = featureNames.filter((name) => draft.features[name] !== '');
  return Object.fromEntries(
    given.map((name) => {
      const text = draft.features[name];
      if (features[name] === 'flag') return [name, text === 'true'];
      return [name, features[name] === 'number' ? Number(text) : text.toUpperCase()];
    }),
  );
}

function UpstreamDialog({ upstream, onClose }: { upstream: Upstream | null; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const explain = useExplain();
  const [draft, setDraft] = useState(() => draftOf(upstream));
  const set = (values: Partial<Draft>) => setDraft({ ...draft, ...values });
  const save = useChange({
    change: (steyg, input: Draft) =>
      steyg.console.operator.saveUpstream({
        input: {
          upstreamId: input.upstreamId.trim(),
          protocol: asSent(input.protocol),
          baseUrl: input.baseUrl.trim(),
          onDisconnect: input.onDisconnect,
          enabled: input.enabled,
          ...(input.secret === '' ? {} : { secret: input.secret.trim() }),
          profile: input.profile === '' ? null : input.profile,
          recipient: input.recipient.trim() === '' ? null : input.recipient.trim(),
          country: input.country.trim() === '' ? null : input.country.trim().toUpperCase(),
          features: featuresOf(input),
        },
      }),
    refresh: [upstreamsKey],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const { fields, rest } = useProblems(save.error, [
    'upstreamId',
    'id',
    'profile',
    'baseUrl',
    'secret',
    'recipient',
    'country',
  ]);
  const vendors =
    useAsk({
      key: ['operator', 'vendorProfiles'],
      ask: (steyg, signal) => steyg.console.operator.vendorProfiles({}, { signal }),
    }).data ?? [];
  /** The vendor's first protocol and its address, where those of the draft are not the vendor's or are still empty. */
  const pick = (profile: string) => {
    const endpoints = vendors.find((vendor) => vendor.profile === profile)?.endpoints ?? [];
    const endpoint = endpoints.find(({ protocol }) => protocol === draft.protocol) ?? endpoints[0];
    const known = vendors.flatMap((vendor) => vendor.endpoints.map(({ baseUrl }) => baseUrl ?? ''));
    const isOwn = draft.baseUrl !== '' && !known.includes(draft.baseUrl);
    set({
      profile,
      protocol: endpoint?.protocol ?? draft.protocol,
      baseUrl: isOwn ? draft.baseUrl : (endpoint?.baseUrl ?? draft.baseUrl),
    });
  };
  return (
    <Dialog
      title={upstream === null ? t.operator.addUpstream : fill(t.operator.editWhat, { name: upstream.upstreamId })}
      onClose={onClose}
      wide
    >
      <Form
        onSubmit={() => save.mutate(draft)}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={save.isPending}>
              {t.common.save}
            </Button>
          </>
        }
      >
        {save.error !== null && rest === null ? <Banner tone="bad">{explain(save.error).sentence}</Banner> : null}
        <div className="fields">
          <TextField
            label={t.operator.upstreamId}
            required
            disabled={upstream !== null}
            value={draft.upstreamId}
            onChange={(upstreamId) => set({ upstreamId })}
            error={fields['upstreamId'] ?? fields['id']}
          />
          <SelectField
            label={t.operator.vendor}
            hint={t.operator.vendorHint}
            value={draft.profile}
            onChange={pick}
            options={[
              { value: '', label: t.operator.otherVendor },
              ...vendors.map(({ profile, displayName }) => ({ value: profile, label: displayName })),
            ]}
            error={fields['profile']}
          />
          <SelectField
            label={t.activity.protocol}
            value={draft.protocol}
            onChange={(protocol) => set({ protocol: protocol as Protocol })}
            options={protocols.map((value) => ({ value, label: t.protocols[value] }))}
          />
          <TextField
            label={t.connect.baseUrl}
            hint={draft.protocol === 'MESSAGES' ? t.operator.withoutVersion : t.operator.withVersion}
            type="url"
            required
            value={draft.baseUrl}
            onChange={(baseUrl) => set({ baseUrl })}
            error={fields['baseUrl']}
          />
          <TextField
            label={t.operator.secret}
            hint={upstream === null ? t.operator.secretHint : t.operator.secretKeepHint}
            type="password"
            autoComplete="off"
            value={draft.secret}
            onChange={(secret) => set({ secret })}
            error={fields['secret']}
          />
          <SelectField
            label={t.operator.clientLeaves}
            value={draft.onDisconnect}
            onChange={(onDisconnect) => set({ onDisconnect: onDisconnect as OnDisconnect })}
            options={(['ABORT', 'DRAIN'] as const).map((value) => ({ value, label: t.operator.disconnects[value] }))}
          />
        </div>
        <details open={draft.recipient !== '' || draft.country !== '' || upstream?.profile === null}>
          <summary>{t.operator.dataFlow}</summary>
          <p className="hint">{t.operator.dataFlowHint}</p>
          <div className="fields">
            <TextField
              label={t.operator.recipient}
              value={draft.recipient}
              onChange={(recipient) => set({ recipient })}
              error={fields['recipient']}
            />
            <TextField
              label={t.operator.country}
              hint={t.operator.countryHint}
              value={draft.country}
              onChange={(country) => set({ country })}
              error={fields['country']}
            />
          </div>
        </details>
        <details open={Object.values(draft.features).some((value) => value !== '')}>
          <summary>{t.operator.features}</summary>
          <p className="hint">{t.operator.featuresHint}</p>
          <div className="fields">
            {featureNames.map((name) => (
              <FeatureField
                key={name}
                name={name}
                value={draft.features[name]}
                onChange={(value) => set({ features: { ...draft.features, [name]: value } })}
              />
            ))}
          </div>
        </details>
        <Checkbox label={t.operator.upstreamEnabled} checked={draft.enabled} onChange={(enabled) => set({ enabled })} />
      </Form>
    </Dialog>
  );
}

function FeatureField({ name, value, onChange }: { name: Feature; value: string; onChange: (value: string) => void }) {
  const { t } = useOperatorLanguage();
  const kind = features[name];
  if (kind === 'number') return <TextField label={name} value={value} onChange={onChange} />;
  const options =
    kind === 'flag'
      ? [
          { value: 'true', label: t.common.yes },
          { value: 'false', label: t.common.no },
        ]
      : kind.map((text) => ({ value: text, label: text }));
  const usual = { value: '', label: t.operator.usual };
  return <SelectField label={name} value={value} onChange={onChange} options={[usual, ...options]} />;
}
