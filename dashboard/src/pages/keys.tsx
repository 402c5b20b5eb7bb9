/** The page of an account's API keys. */

import type { ElementOf, ListKeysAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { DateField } from '../components/date-field.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import {
  LIMIT_INPUTS,
  type LimitDraft,
  LimitFields,
  limitDraft,
  noLimits,
  typedLimits,
  useLimitLines,
} from '../components/limit-fields.tsx';
import { type KeyTerms, SecretDialog, useCreateKey } from '../components/new-key.tsx';
import { Badge, Page } from '../components/page.tsx';
import { SearchField, useSearch } from '../components/search-field.tsx';
import { SecretName } from '../components/secret-name.tsx';
import { useSpendingTexts } from '../components/spending-texts.ts';
import { Empty, Loaded, More, TableSkeleton } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useSay } from '../components/toasts.tsx';
import { Trend, useTrends } from '../components/trends.tsx';
import { useAsk, useChange, usePages } from '../data.tsx';
import { useExplain, useProblems } from '../explain.ts';
import { useNow } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import type { InputProblems } from '../problems.ts';
import { useAbilities, useAccount } from '../session.tsx';

type Key = ElementOf<ListKeysAnswer>;
type Pages = { pages: ({ edges: { node: Key }[] } | null)[] };

/** Lists that are longer have a search. */
const few = 8;

type Open = { what: 'create' } | { what: 'edit' | 'rotate' | 'delete'; key: Key };

export default function Keys() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const abilities = useAbilities();
  const [open, setOpen] = useState<Open | null>(null);
  const [secret, setSecret] = useState<{ name: string; secret: string } | null>(null);
  const [withDeleted, setWithDeleted] = useState(false);
  const search = useSearch();
  const listKey = ['keys', accountId, 'list', withDeleted, search.asked];
  const keys = usePages({
    key: listKey,
    ask: (steyg, after, signal) => {
      const asked = { accountId, after, first: 50, deleted: withDeleted, search: search.asked };
      return steyg.console.keys.listKeys(asked, { signal });
    },
    every: 15_000,
  });
  const close = () => setOpen(null);
  const shown = (key: { key: { name: string }; secret: string }) => {
    close();
    setSecret({ name: key.key.name, secret: key.secret });
  };
  return (
    <Page
      title={t.keys.title}
      lead={t.keys.lead}
      actions={
        abilities.keys ? (
          <Button look="primary" onClick={() => setOpen({ what: 'create' })}>
            {t.keys.create}
          </Button>
        ) : undefined
      }
    >
      {search.text !== '' || (keys.data?.length ?? 0) > few ? (
        <div className="filters">
          <SearchField search={search} hint={t.keys.findHint} />
        </div>
      ) : null}
      <Loaded query={keys} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 && search.asked !== null ? (
            <Empty title={t.common.nothingFound} />
          ) : rows.length === 0 ? (
            <Empty
              title={t.keys.empty}
              action={
                abilities.keys ? (
                  <Button look="primary" onClick={() => setOpen({ what: 'create' })}>
                    {t.keys.create}
                  </Button>
                ) : undefined
              }
            >
              {t.keys.emptyText}
            </Empty>
          ) : (
            <KeyTable keys={rows} act={abilities.keys ? (what, key) => setOpen({ what, key }) : null} />
          )
        }
      </Loaded>
      <More query={keys} />
      <Checkbox label={t.keys.showDeleted} checked={withDeleted} onChange={setWithDeleted} />
      {open?.what === 'create' ? <CreateDialog onClose={close} onMade={shown} /> : null}
      {open?.what === 'edit' ? <EditDialog apiKey={open.key} onClose={close} /> : null}
      {open?.what === 'rotate' ? <RotateDialog apiKey={open.key} onClose={close} onMade={shown} /> : null}
      {open?.what === 'delete' ? <DeleteDialog apiKey={open.key} listKey={listKey} onClose={close} /> : null}
      {secret === null ? null : (
        <SecretDialog
          title={fill(t.keys.made, { name: secret.name })}
          secret={secret.secret}
          what={t.keys.secret}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  );
}

const statusTones = { ACTIVE: 'usual', EXPIRED: 'warn', DELETED: 'bad' } as const;

function KeyTable({
  keys,
  act,
}: {
  keys: readonly Key[];
  act: ((what: 'edit' | 'rotate' | 'delete', key: Key) => void) | null;
}) {
  const { t, format } = useLanguage();
  const now = useNow();
  const { id: accountId } = useAccount();
  const trends = useTrends(accountId, 'key');
  return (
    <Table
      caption={t.keys.title}
      rows={keys}
      rowKey={({ id }) => id}
      columns={[
        {
          head: t.keys.name,
          names: true,
          cell: (secret) => (
            <>
              <SecretName {...secret} />
              <Place of={secret} />
            </>
          ),
        },
        {
          head: t.keys.status,
          cell: ({ status, expiresAt }) => (
            <>
              <Badge tone={statusTones[status]}>{t.keys.statuses[status]}</Badge>
              {status === 'ACTIVE' && expiresAt !== null ? (
                <span className="note">{fill(t.keys.until, { end: format.dateTime(expiresAt) })}</span>
              ) : null}
            </>
          ),
        },
        {
          head: t.keys.lastUsed,
          cell: ({ lastUsedAt }) => (
            <span className="line">{lastUsedAt === null ? t.keys.never : format.ago(lastUsedAt, now)}</span>
          ),
        },
        {
          head: t.keys.spent,
          figure: true,
          cell: ({ id, name, spend }) => (
            <>
              {format.usd(spend.lifetime)}
              {spend.thisMonth === spend.lifetime ? null : (
                <span className="note line">{fill(t.keys.spentMonth, { usd: format.usd(spend.thisMonth) })}</span>
              )}
              <span className="note">
                <Trend of={trends} id={id} name={name} />
              </span>
            </>
          ),
        },
        {
          head: t.keys.limits,
          cell: ({ models, ...key }) => (
            <>
              <Limits of={key} />
              {models.length === 0 ? null : <span className="note">{format.list(models)}</span>}
            </>
          ),
        },
        {
          head: t.common.actions,
          silentHead: true,
          cell: (key) =>
            act === null || key.status === 'DELETED' ? null : (
              <div className="row-actions">
                <Button small aria-label={fill(t.keys.editWhat, { name: key.name })} onClick={() => act('edit', key)}>
                  {t.common.edit}
                </Button>
                <Button
                  small
                  aria-label={fill(t.keys.rotateWhat, { name: key.name })}
                  onClick={() => act('rotate', key)}
                >
                  {t.keys.rotate}
                </Button>
                <Button
                  small
                  look="danger"
                  aria-label={fill(t.keys.deleteWhat, { name: key.name })}
                  onClick={() => act('delete', key)}
                >
                  {t.common.delete}
                </Button>
              </div>
            ),
        },
      ]}
    />
  );
}

/** Where a key lies, and who made it. */
function Place({ of: { project, maker, owner } }: { of: Key }) {
  const texts = useSpendingTexts();
  const name = maker?.name ?? texts.forgotten;
  const parts = [
    project?.name,
    maker === null ? undefined : fill(maker.isMember ? texts.madeBy : texts.madeByFormer, { name }),
    owner === 'MEMBER' ? texts.personal : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? null : <span className="note">{parts.join(' · ')}</span>;
}

function Limits({ of: { limits, ...rest } }: { of: Omit<Key, 'models'> }) {
  const { t } = useLanguage();
  const set = useLimitLines()({ ...rest, spend: limits });
  if (set.length === 0) return <>{t.keys.noLimit}</>;
  return set.map((limit) => (
    <span key={limit} className="row line">
      {limit}
    </span>
  ));
}

interface Draft {
  name: string;
  models: string[];
  limits: LimitDraft;
  expiry: string;
  /** Empty: none. */
  projectId: string;
  /** Null: as the role of who creates it says. */
  owner: 'ACCOUNT' | 'MEMBER' | null;
}

const emptyDraft: Draft = {
  name: '',
  models: [],
  limits: limitDraft(noLimits),
  expiry: '',
  projectId: '',
  owner: null,
};

function draftOf(key: Key): Draft {
  return {
    name: key.name,
    models: [...key.models],
    limits: limitDraft({ ...key, spend: key.limits }),
    expiry: key.expiresAt === null ? '' : toLocalInput(key.expiresAt),
    projectId: key.project?.id ?? '',
    owner: key.owner,
  };
}

/** A moment in the format of an input for local time. */
function toLocalInput(moment: string): string {
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The terms of a draft; null: something in it is not usable. */
function termsOf({
  name,
  models,
  limits,
  expiry,
  projectId,
  owner,
}: Draft): (Omit<Required<KeyTerms>, 'owner'> & KeyTerms) | null {
  const usable = typedLimits(limits);
  if (usable === null) return null;
  const { spend, addresses, ...rest } = usable;
  return {
    name: name.trim(),
    models,
    limits: spend,
    ...rest,
    addresses: [...addresses],
    expiresAt: expiry === '' ? null : new Date(expiry).toISOString(),
    projectId: projectId === '' ? null : projectId,
    ...(owner === null ? {} : { owner }),
  };
}

/** The inputs that show their problem, by the names that the server gives them. */
const TERMS_INPUTS = [...LIMIT_INPUTS, 'name', 'expiresAt'] as const;

function TermsFields({
  draft,
  onChange,
  fields,
}: {
  draft: Draft;
  onChange: (draft: Draft) => void;
  fields: InputProblems<(typeof TERMS_INPUTS)[number]>;
}) {
  const { t } = useLanguage();
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  // A model that left the catalog stays a restriction of the key until it is removed there too.
  const known = models.data?.map(({ modelId }) => modelId) ?? [];
  const all = [...known, ...draft.models.filter((id) => !known.includes(id))];
  return (
    <>
      <TextField
        label={t.keys.name}
        hint={t.keys.nameHint}
        maxLength={100}
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        error={fields['name']}
      />
      <fieldset className="group">
        <legend>{t.keys.models}</legend>
        <p className="hint">{t.keys.modelsHint}</p>
        <div className="checks">
          {all.map((id) => (
            <Checkbox
              key={id}
              label={<code>{id}</code>}
              checked={draft.models.includes(id)}
              onChange={(checked) =>
                onChange({
                  ...draft,
                  models: checked ? [...draft.models, id] : draft.models.filter((each) => each !== id),
                })
              }
            />
          ))}
        </div>
      </fieldset>
      <PlaceFields draft={draft} onChange={onChange} />
      <LimitFields draft={draft.limits} onChange={(limits) => onChange({ ...draft, limits })} fields={fields} />
      <DateField
        label={t.keys.expiry}
        hint={t.keys.expiryHint}
        withTime
        value={draft.expiry}
        onChange={(expiry) => onChange({ ...draft, expiry })}
        error={fields['expiresAt']}
      />
    </>
  );
}

/** The project of a key, where there are any, and whom it belongs to, for those who may choose. */
function PlaceFields({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const texts = useSpendingTexts();
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const projects = useAsk({
    key: ['projects', accountId, false],
    ask: (steyg, signal) => steyg.console.keys.listProjects({ accountId, archived: false }, { signal }),
  });
  const list = projects.data ?? [];
  return (
    <>
      {list.length === 0 && draft.projectId === '' ? null : (
        <SelectField
          label={texts.project}
          hint={texts.projectHint}
          value={draft.projectId}
          onChange={(projectId) => onChange({ ...draft, projectId })}
          options={[{ value: '', label: texts.noProject }, ...list.map(({ id, name }) => ({ value: id, label: name }))]}
        />
      )}
      {billing ? (
        <SelectField
          label={texts.owner}
          hint={texts.ownerHint}
          value={draft.owner ?? 'ACCOUNT'}
          onChange={(owner) => onChange({ ...draft, owner: owner === 'MEMBER' ? 'MEMBER' : 'ACCOUNT' })}
          options={(['ACCOUNT', 'MEMBER'] as const).map((value) => ({ value, label: texts.owners[value] }))}
        />
      ) : null}
    </>
  );
}

function CreateDialog({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (key: { key: Key; secret: string }) => void;
}) {
  const { t } = useLanguage();
  const [draft, setDraft] = useState(emptyDraft);
  const create = useCreateKey(onMade);
  const { fields, rest } = useProblems(create.error, TERMS_INPUTS);
  return (
    <Dialog title={t.keys.create} onClose={onClose}>
      <Form
        onSubmit={() => {
          const usable = termsOf(draft);
          if (usable === null) return;
          const { name, ...terms } = usable;
          create.mutate(name === '' ? terms : { ...terms, name });
        }}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={create.isPending}>
              {t.keys.create}
            </Button>
          </>
        }
      >
        <TermsFields draft={draft} onChange={setDraft} fields={fields} />
      </Form>
    </Dialog>
  );
}

function EditDialog({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
  const { t } = useLanguage();
  const say = useSay();
  const { id: accountId } = useAccount();
  const [draft, setDraft] = useState(() => draftOf(apiKey));
  const update = useChange({
    change: (steyg, terms: KeyTerms) => steyg.console.keys.updateKey({ input: { ...terms, id: apiKey.id } }),
    refresh: [['keys', accountId]],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const { fields, rest } = useProblems(update.error, TERMS_INPUTS);
  return (
    <Dialog title={fill(t.keys.editWhat, { name: apiKey.name })} onClose={onClose}>
      <Form
        onSubmit={() => {
          const usable = termsOf(draft);
          if (usable !== null) update.mutate(usable);
        }}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={update.isPending}>
              {t.common.save}
            </Button>
          </>
        }
      >
        <TermsFields draft={draft} onChange={setDraft} fields={fields} />
      </Form>
    </Dialog>
  );
}

const graces = ['0', '3600', '86400', '604800'] as const;

function RotateDialog({
  apiKey,
  onClose,
  onMade,
}: {
  apiKey: Key;
  onClose: () => void;
  onMade: (key: { key: Key; secret: string }) => void;
}) {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const [grace, setGrace] = useState('86400');
  const rotate = useChange({
    change: (steyg, graceSeconds: number) => steyg.console.keys.rotateKey({ id: apiKey.id, graceSeconds }),
    refresh: [['keys', accountId]],
    done: onMade,
  });
  return (
    <Dialog title={fill(t.keys.rotateWhat, { name: apiKey.name })} onClose={onClose}>
      <Form
        onSubmit={() => rotate.mutate(Number(grace))}
        error={rotate.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={rotate.isPending}>
              {t.keys.rotate}
            </Button>
          </>
        }
      >
        <p>{t.keys.rotateText}</p>
        <SelectField
          label={t.keys.grace}
          value={grace}
          onChange={setGrace}
          options={graces.map((value) => ({ value, label: t.keys.graces[value] }))}
        />
      </Form>
    </Dialog>
  );
}

function DeleteDialog({ apiKey, listKey, onClose }: { apiKey: Key; listKey: readonly unknown[]; onClose: () => void }) {
  const { t } = useLanguage();
  const say = useSay();
  const explain = useExplain();
  const { id: accountId } = useAccount();
  const remove = useChange({
    change: (steyg, id: string) => steyg.console.keys.deleteKey({ id }),
    refresh: [['keys', accountId]],
    // Optimistic: the key leaves the list at once, and returns if the server refuses.
    expect: {
      key: listKey,
      update: (current: Pages, id: string) => ({
        ...current,
        pages: current.pages.map((page) =>
          page === null ? null : { ...page, edges: page.edges.filter(({ node }) => node.id !== id) },
        ),
      }),
    },
    done: () => say(fill(t.keys.deleted, { name: apiKey.name })),
  });
  return (
    <Confirm
      title={fill(t.keys.deleteWhat, { name: apiKey.name })}
      action={t.common.delete}
      busy={remove.isPending}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate(apiKey.id, {
          onError: (error) => say(explain(error).sentence, 'bad'),
          onSettled: onClose,
        })
      }
    >
      <p>{t.keys.deleteText}</p>
    </Confirm>
  );
}
