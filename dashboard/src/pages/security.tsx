/** The security page: password, second factor, passkeys, linked accounts, sessions, access tokens. */

import type { ElementOf, ListAccessTokensAnswer, TokenScope } from '@steyg/sdk';
import { useState } from 'react';
import { viewerKey } from '../answers.ts';
import { Button } from '../components/button.tsx';
import { Code } from '../components/copy.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { IdentitiesCard } from '../components/identities.tsx';
import { Moment } from '../components/moment.tsx';
import { SecretDialog } from '../components/new-key.tsx';
import { NewPasswordField } from '../components/new-password.tsx';
import { Badge, Card, Page } from '../components/page.tsx';
import { PasskeysCard } from '../components/passkeys.tsx';
import { PasswordAgain } from '../components/password-again.tsx';
import SecondFactorDialog, { PasswordForm } from '../components/second-factor-dialog.tsx';
import { SecretName } from '../components/secret-name.tsx';
import { Banner, Empty, Loaded, More, TableSkeleton } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useSay } from '../components/toasts.tsx';
import { useChange, usePages } from '../data.tsx';
import { deviceWords } from '../device.ts';
import { useExplain, useProblems } from '../explain.ts';
import { useNow } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { useSession } from '../session.tsx';
import { dayMs } from '../usage.ts';

export default function Security() {
  const { t } = useLanguage();
  const { account, person } = useSession();
  return (
    <Page title={t.security.title}>
      <div className="columns">
        {person.hasPassword ? <Password /> : null}
        <SecondFactor />
      </div>
      <PasskeysCard />
      <IdentitiesCard />
      <Sessions />
      {account === null ? null : <AccessTokens accountId={account.id} />}
    </Page>
  );
}

function Password() {
  const { t } = useLanguage();
  const say = useSay();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useChange({
    change: (steyg, input: { currentPassword: string; newPassword: string }) =>
      steyg.console.people.changePassword(input),
    refresh: [viewerKey],
    done: () => {
      say(t.security.passwordChanged);
      setCurrent('');
      setNext('');
    },
  });
  const { fields, rest } = useProblems(change.error, ['newPassword']);
  return (
    <Card title={t.security.password}>
      <Form
        onSubmit={() => change.mutate({ currentPassword: current, newPassword: next })}
        error={rest}
        actions={
          <Button type="submit" look="primary" busy={change.isPending}>
            {t.security.changePassword}
          </Button>
        }
      >
        <TextField
          label={t.security.currentPassword}
          type="password"
          autoComplete="current-password"
          required
          value={current}
          onChange={setCurrent}
        />
        <NewPasswordField label={t.reset.password} value={next} onChange={setNext} error={fields['newPassword']} />
      </Form>
    </Card>
  );
}

function SecondFactor() {
  const { t } = useLanguage();
  const { person, twoFactors } = useSession();
  const [open, setOpen] = useState<'begin' | 'disable' | 'codes' | null>(null);
  const close = () => setOpen(null);
  return (
    <Card
      title={t.security.secondFactor}
      actions={
        <Badge tone={person.secondFactor ? 'usual' : 'warn'}>
          {person.secondFactor ? t.security.on : t.security.off}
        </Badge>
      }
    >
      <p>{person.secondFactor ? t.security.secondFactorOn : t.security.secondFactorOff}</p>
      {person.operator && !twoFactors ? <Banner tone="warn">{t.errors.SECOND_FACTOR_REQUIRED}</Banner> : null}
      <div className="actions">
        {person.secondFactor ? (
          <>
            <Button onClick={() => setOpen('codes')}>{t.security.newCodes}</Button>
            <Button look="danger" onClick={() => setOpen('disable')}>
              {t.security.disable}
            </Button>
          </>
        ) : (
          <Button look="primary" onClick={() => setOpen('begin')}>
            {t.security.enable}
          </Button>
        )}
      </div>
      {open === 'begin' ? <SecondFactorDialog onClose={close} /> : null}
      {open === 'disable' ? <DisableDialog onClose={close} /> : null}
      {open === 'codes' ? <CodesDialog onClose={close} /> : null}
    </Card>
  );
}

function DisableDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const say = useSay();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const disable = useChange({
    change: (steyg, input: { password: string; code: string }) => steyg.console.people.disableSecondFactor(input),
    refresh: [viewerKey],
    done: () => {
      say(t.security.disabled);
      onClose();
    },
  });
  return (
    <Dialog title={t.security.disable} onClose={onClose}>
      <Form
        onSubmit={() => disable.mutate({ password, code: code.trim() })}
        error={disable.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="danger" busy={disable.isPending}>
              {t.security.disable}
            </Button>
          </>
        }
      >
        <PasswordAgain value={password} onChange={setPassword} />
        <TextField
          label={t.signIn.code}
          hint={t.signIn.codeHint}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          value={code}
          onChange={setCode}
        />
      </Form>
    </Dialog>
  );
}

function CodesDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const [password, setPassword] = useState('');
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const renew = useChange({
    change: (steyg, input: string) => steyg.console.people.renewBackupCodes({ password: input }),
    done: ({ backupCodes }) => setCodes(backupCodes),
  });
  return (
    <Dialog title={t.security.newCodes} onClose={onClose}>
      {codes === null ? (
        <PasswordForm
          value={password}
          onChange={setPassword}
          action={t.security.newCodes}
          busy={renew.isPending}
          error={renew.error}
          onSubmit={() => renew.mutate(password)}
          onCancel={onClose}
        />
      ) : (
        <>
          <Banner tone="warn">{fill(t.common.shownOnce, { what: t.security.backupCodes })}</Banner>
          <Code text={codes.join('\n')} what={t.security.backupCodes} />
          <div className="actions">
            <Button look="primary" onClick={onClose}>
              {t.common.done}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function Sessions() {
  const { t, format } = useLanguage();
  const say = useSay();
  const explain = useExplain();
  const { sessions } = useSession();
  const now = useNow();
  const fail = { onError: (error: unknown) => say(explain(error).sentence, 'bad') };
  /** The server names devices in English: `Chrome on Windows`. */
  const nameOf = (device: string | null): string =>
    device === null ? t.security.unknownDevice : deviceWords(device, t);
  const end = useChange({
    change: (steyg, id: string) => steyg.console.people.revokeSession({ id }),
    refresh: [viewerKey],
  });
  const endOthers = useChange({
    change: (steyg, _input: undefined) => steyg.console.people.revokeOtherSessions(),
    refresh: [viewerKey],
    done: (ended) => say(fill(t.security.othersEnded, { n: format.number(ended.count) })),
  });
  return (
    <Card
      title={t.security.sessions}
      actions={
        sessions.length < 2 ? null : (
          <Button small busy={endOthers.isPending} onClick={() => endOthers.mutate(undefined, fail)}>
            {t.security.endOthers}
          </Button>
        )
      }
    >
      <Table
        caption={t.security.sessions}
        rows={sessions}
        rowKey={({ id }) => id}
        columns={[
          {
            head: t.security.device,
            names: true,
            cell: ({ userAgent, device, current }) => (
              <>
                <span title={userAgent ?? undefined}>{nameOf(device)}</span>{' '}
                {current ? <Badge>{t.security.thisOne}</Badge> : null}
              </>
            ),
          },
          { head: t.security.address, cell: ({ ipAddress }) => ipAddress ?? '–' },
          { head: t.security.since, cell: ({ createdAt }) => <Moment at={createdAt} /> },
          { head: t.keys.lastUsed, cell: ({ lastUsedAt }) => format.ago(lastUsedAt, now) },
          {
            head: t.common.actions,
            silentHead: true,
            cell: ({ id, current, device }) =>
              current ? null : (
                <div className="row-actions">
                  <Button
                    small
                    look="danger"
                    busy={end.isPending}
                    aria-label={fill(t.security.endWhat, { device: nameOf(device) })}
                    onClick={() => end.mutate(id, fail)}
                  >
                    {t.security.end}
                  </Button>
                </div>
              ),
          },
        ]}
      />
    </Card>
  );
}

type Token = ElementOf<ListAccessTokensAnswer>;

const scopes = ['READ', 'KEYS', 'BILLING', 'OPERATOR'] as const;
const lifetimes = ['30', '90', '365', ''] as const;

function AccessTokens({ accountId }: { accountId: string }) {
  const { t, format } = useLanguage();
  const say = useSay();
  const explain = useExplain();
  const now = useNow();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Token | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const key = ['access-tokens', accountId];
  const tokens = usePages({
    key,
    ask: (steyg, after, signal) => steyg.console.accounts.listAccessTokens({ accountId, after, first: 50 }, { signal }),
  });
  const remove = useChange({
    change: (steyg, id: string) => steyg.console.accounts.revokeAccessToken({ id }),
    refresh: [key],
  });
  return (
    <Card
      title={t.security.tokens}
      actions={
        <Button small onClick={() => setAdding(true)}>
          {t.security.addToken}
        </Button>
      }
    >
      <p className="hint">{t.security.tokensLead}</p>
      <Loaded query={tokens} skeleton={<TableSkeleton />}>
        {(rows) => {
          if (rows.length === 0) return <Empty title={t.security.noTokens} />;
          return (
            <Table
              caption={t.security.tokens}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.keys.name,
                  names: true,
                  cell: (secret) => <SecretName {...secret} />,
                },
                {
                  head: t.security.scopes,
                  cell: (token) => format.list(token.scopes.map((scope) => t.security.scopeNames[scope])),
                },
                {
                  head: t.keys.lastUsed,
                  cell: ({ lastUsedAt }) => (lastUsedAt === null ? t.keys.never : format.ago(lastUsedAt, now)),
                },
                {
                  head: t.keys.expiry,
                  cell: ({ expiresAt }) => (expiresAt === null ? t.topUp.noEnd : <Moment at={expiresAt} />),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (token) => (
                    <div className="row-actions">
                      <Button
                        small
                        look="danger"
                        aria-label={fill(t.security.deleteToken, { name: token.name })}
                        onClick={() => setRemoving(token)}
                      >
                        {t.common.delete}
                      </Button>
                    </div>
                  ),
                },
              ]}
            />
          );
        }}
      </Loaded>
      <More query={tokens} />
      {adding ? (
        <TokenDialog
          accountId={accountId}
          onClose={() => setAdding(false)}
          onMade={(made) => {
            setAdding(false);
            setSecret(made);
          }}
        />
      ) : null}
      {removing === null ? null : (
        <Confirm
          title={fill(t.security.deleteToken, { name: removing.name })}
          action={t.common.delete}
          busy={remove.isPending}
          onClose={() => setRemoving(null)}
          onConfirm={() =>
            remove.mutate(removing.id, {
              onError: (error) => say(explain(error).sentence, 'bad'),
              onSettled: () => setRemoving(null),
            })
          }
        >
          <p>{t.security.deleteTokenText}</p>
        </Confirm>
      )}
      {secret === null ? null : (
        <SecretDialog
          title={t.security.tokens}
          secret={secret}
          what={t.security.token}
          onClose={() => setSecret(null)}
        />
      )}
    </Card>
  );
}

function TokenDialog({
  accountId,
  onClose,
  onMade,
}: {
  accountId: string;
  onClose: () => void;
  onMade: (secret: string) => void;
}) {
  const { t } = useLanguage();
  const { person } = useSession();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<TokenScope[]>(['READ']);
  const [lifetime, setLifetime] = useState<string>('90');
  const create = useChange({
    change: (steyg, input: { name: string; scopes: TokenScope[]; expiresAt: string | null }) =>
      steyg.console.accounts.createAccessToken({ input: { ...input, accountId } }),
    refresh: [['access-tokens', accountId]],
    done: (made) => onMade(made.secret),
  });
  return (
    <Dialog title={t.security.addToken} onClose={onClose}>
      <Form
        onSubmit={() =>
          create.mutate({
            name: name.trim(),
            scopes: chosen,
            expiresAt: lifetime === '' ? null : new Date(Date.now() + Number(lifetime) * dayMs).toISOString(),
          })
        }
        error={create.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={create.isPending} disabled={chosen.length === 0}>
              {t.common.add}
            </Button>
          </>
        }
      >
        <TextField label={t.keys.name} required maxLength={100} value={name} onChange={setName} />
        <fieldset className="group">
          <legend>{t.security.scopes}</legend>
          {scopes
            .filter((scope) => scope !== 'OPERATOR' || person.operator)
            .map((scope) => (
              <Checkbox
                key={scope}
                label={t.security.scopeNames[scope]}
                checked={chosen.includes(scope)}
                onChange={(checked) =>
                  setChosen(checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
                }
              />
            ))}
        </fieldset>
        <SelectField
          label={t.security.lifetime}
          value={lifetime}
          onChange={setLifetime}
          options={lifetimes.map((value) => ({
            value,
            label: value === '' ? t.keys.never : fill(t.security.days, { n: value }),
          }))}
        />
      </Form>
    </Dialog>
  );
}
