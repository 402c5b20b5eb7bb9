/** The page of an account's members. */

import {
  type InvitedRole,
  type LeftKeys,
  type ListMembersAnswer,
  type RemoveMemberAnswer,
  ResultError,
  type Role,
} from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Choice, SelectField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { MemberSpendCard, useMemberSpend } from '../components/member-spend.tsx';
import { Moment } from '../components/moment.tsx';
import { Card, Page } from '../components/page.tsx';
import { useSpendingTexts } from '../components/spending-texts.ts';
import { Empty, Loaded, TableSkeleton } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useSay } from '../components/toasts.tsx';
import { useAsk, useChange } from '../data.tsx';
import { useExplain } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { counted } from '../language/spending.ts';
import { useAbilities, useAccount, useSession } from '../session.tsx';

type Member = NonNullable<ListMembersAnswer>[number];

const roles = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER'] as const;

export default function Members() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const { members: leads } = useAbilities();
  const members = useAsk({
    key: ['members', accountId],
    ask: (steyg, signal) => steyg.console.accounts.listMembers({ accountId }, { signal }),
  });
  return (
    <Page title={t.members.title} lead={t.members.lead}>
      <Card title={t.members.title}>
        <Loaded query={members} skeleton={<TableSkeleton />}>
          {(list) => <MemberTable members={list} />}
        </Loaded>
      </Card>
      <MemberSpendCard />
      <Card title={t.members.rolesTitle}>
        <dl className="sums">
          {roles.map((role) => (
            <div key={role}>
              <dt>{t.members.roles[role]}</dt>
              <dd>{t.members.roleTexts[role]}</dd>
            </div>
          ))}
        </dl>
      </Card>
      {leads ? <Invitations /> : null}
    </Page>
  );
}

type SeenKey = Extract<RemoveMemberAnswer, { __typename: 'KeysUndecidedError' }>['keys'][number];

function MemberTable({ members }: { members: readonly Member[] }) {
  const { t, format } = useLanguage();
  const say = useSay();
  const explain = useExplain();
  const { person } = useSession();
  const { id: accountId } = useAccount();
  const { members: leads, role: own } = useAbilities();
  const [leaving, setLeaving] = useState<Member | null>(null);
  const key = ['members', accountId];
  const setRole = useChange({
    change: (steyg, input: { id: string; role: Role }) => steyg.console.accounts.setMemberRole(input),
    refresh: [key],
    expect: {
      key,
      update: (current: readonly Member[], { id, role }: { id: string; role: Role }) =>
        current.map((member) => (member.id === id ? { ...member, role } : member)),
    },
    done: () => say(t.common.saved),
  });
  // Only owners manage owners; admins may manage the others.
  const mayChange = ({ role }: Member) => own === 'OWNER' || (leads && role !== 'OWNER');
  return (
    <>
      <Table
        caption={t.members.title}
        rows={members}
        rowKey={({ id }) => id}
        columns={[
          {
            head: t.members.name,
            names: true,
            cell: ({ name, email }) => (
              <>
                {name}
                {email === person.email ? ` (${t.members.yourself})` : ''}
                <span className="note">{email}</span>
              </>
            ),
          },
          {
            head: t.members.role,
            cell: (member) =>
              mayChange(member) ? (
                <select
                  aria-label={fill(t.members.roleOf, { name: member.name })}
                  value={member.role ?? undefined}
                  onChange={(event) =>
                    setRole.mutate(
                      { id: member.id, role: event.target.value as Role },
                      { onError: (error) => say(explain(error).sentence, 'bad') },
                    )
                  }
                >
                  {roles
                    .filter((role) => role !== 'OWNER' || own === 'OWNER')
                    .map((role) => (
                      <option key={role} value={role}>
                        {t.members.roles[role]}
                      </option>
                    ))}
                </select>
              ) : (
                t.members.roles[member.role ?? 'OTHER']
              ),
          },
          { head: t.members.since, cell: ({ createdAt }) => format.date(createdAt) },
          {
            head: t.common.actions,
            silentHead: true,
            cell: (member) =>
              mayChange(member) || member.email === person.email ? (
                <div className="row-actions">
                  <Button
                    small
                    look="danger"
                    aria-label={
                      member.email === person.email
                        ? t.members.leave
                        : fill(t.members.removeWhat, { name: member.name })
                    }
                    onClick={() => setLeaving(member)}
                  >
                    {member.email === person.email ? t.members.leave : t.common.remove}
                  </Button>
                </div>
              ) : null,
          },
        ]}
      />
      {leaving === null ? null : (
        <RemoveMember member={leaving} refresh={[key, ['viewer']]} onClose={() => setLeaving(null)} />
      )}
    </>
  );
}

/** Removes somebody; where keys would go on that they have seen, it asks what becomes of them. */
function RemoveMember({
  member,
  refresh,
  onClose,
}: {
  member: Member;
  refresh: readonly (readonly string[])[];
  onClose: () => void;
}) {
  const { t } = useLanguage();
  const say = useSay();
  const explain = useExplain();
  const { person } = useSession();
  const [seen, setSeen] = useState<readonly SeenKey[]>([]);
  const [fate, setFate] = useState<LeftKeys | ''>('');
  const remove = useChange({
    change: (steyg, keys: LeftKeys | '') =>
      steyg.console.accounts.removeMember({ id: member.id, ...(keys === '' ? {} : { keys }) }),
    refresh,
    done: onClose,
  });
  const texts = t.members.seenKeys;
  return (
    <Confirm
      title={fill(t.members.removeWhat, { name: member.name })}
      action={member.email === person.email ? t.members.leave : t.common.remove}
      busy={remove.isPending}
      disabled={seen.length > 0 && fate === ''}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate(fate, {
          onError: (error) => {
            const asked = keysAsked(error);
            if (asked !== null) return setSeen(asked);
            say(explain(error).sentence, 'bad');
            onClose();
          },
        })
      }
    >
      {seen.length === 0 ? (
        <OwnKeys member={member} />
      ) : (
        <>
          <p role="alert">{fill(texts.ask, { name: member.name })}</p>
          <ul className="seen-keys">
            {seen.map(({ id, name, last4 }) => (
              <li key={id}>
                {name} <code>…{last4}</code>
              </li>
            ))}
          </ul>
          <Choice
            label={texts.choice}
            value={fate}
            options={[
              { value: 'REVOKE', label: texts.revoke },
              { value: 'KEEP', label: texts.keep },
            ]}
            onChange={(value) => setFate(value as LeftKeys)}
          />
          <p className="hint">{texts.told}</p>
        </>
      )}
      <p>{t.members.removeText}</p>
    </Confirm>
  );
}

/** The keys that the server wants a word on; null: it refused for another reason. */
function keysAsked(error: unknown): readonly SeenKey[] | null {
  if (!(error instanceof ResultError) || error.type !== 'KeysUndecidedError') return null;
  return (error.result as Extract<RemoveMemberAnswer, { __typename: 'KeysUndecidedError' }>).keys;
}

/** What becomes of somebody's own keys when they leave. */
function OwnKeys({ member }: { member: Member }) {
  const texts = useSpendingTexts().members;
  const people = useMemberSpend();
  const made = people.data?.find(({ memberId }) => memberId === member.id);
  if (made === undefined) return null;
  return <p>{counted(texts.removeKeys, made.personalKeys)}</p>;
}

function Invitations() {
  const { t } = useLanguage();
  const say = useSay();
  const { id: accountId } = useAccount();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<InvitedRole>('MEMBER');
  const key = ['invitations', accountId];
  const list = useAsk({
    key,
    ask: (steyg, signal) => steyg.console.accounts.listInvitations({ accountId }, { signal }),
  });
  const invite = useChange({
    change: (steyg, input: { email: string; role: InvitedRole }) =>
      steyg.console.accounts.inviteMember({ ...input, accountId }),
    refresh: [key],
    done: (_invitation, input) => {
      say(fill(t.members.invited, { email: input.email }));
      setEmail('');
    },
  });
  const revoke = useChange({
    change: (steyg, id: string) => steyg.console.accounts.revokeInvitation({ id }),
    refresh: [key],
  });
  return (
    <Card title={t.members.invitations}>
      <Form
        label={t.members.invite}
        onSubmit={() => invite.mutate({ email: email.trim(), role })}
        error={invite.error}
        actions={
          <Button type="submit" look="primary" busy={invite.isPending}>
            {t.members.invite}
          </Button>
        }
      >
        <div className="fields">
          <TextField label={t.signIn.email} type="email" required value={email} onChange={setEmail} />
          <SelectField
            label={t.members.role}
            value={role}
            onChange={(value) => setRole(value as InvitedRole)}
            options={(['ADMIN', 'MEMBER', 'VIEWER'] as const).map((value) => ({
              value,
              label: t.members.roles[value],
            }))}
          />
        </div>
      </Form>
      <Loaded query={list} skeleton={<TableSkeleton />}>
        {(invitations) =>
          invitations.length === 0 ? (
            <Empty title={t.members.noInvitations} />
          ) : (
            <Table
              caption={t.members.invitations}
              rows={invitations}
              rowKey={({ id }) => id}
              columns={[
                { head: t.signIn.email, names: true, cell: (invitation) => invitation.email },
                { head: t.members.role, cell: (invitation) => t.members.roles[invitation.role ?? 'OTHER'] },
                { head: t.members.until, cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (invitation) => (
                    <div className="row-actions">
                      <Button
                        small
                        look="danger"
                        busy={revoke.isPending}
                        aria-label={fill(t.members.revokeWhat, { email: invitation.email })}
                        onClick={() => revoke.mutate(invitation.id)}
                      >
                        {t.members.revoke}
                      </Button>
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
