/** The operator's page of the people who run the service. */

import { type ListOperatorsAnswer, ResultError } from '@steyg/sdk';
import { useState } from 'react';
import { viewerKey } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { Banner, FailureNotice, Loaded, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { useSession } from '../../session.tsx';

type Operator = NonNullable<ListOperatorsAnswer>[number];

const operatorsKey = ['operator', 'operators'];

export default function Team() {
  const { t } = useOperatorLanguage();
  const { person } = useSession();
  const [adding, setAdding] = useState(false);
  const [changing, setChanging] = useState<Operator | null>(null);
  const [removing, setRemoving] = useState<Operator | null>(null);
  const operators = useAsk({
    key: operatorsKey,
    ask: (steyg, signal) => steyg.console.operator.listOperators({}, { signal }),
  });
  return (
    <Page
      title={t.nav.operatorTeam}
      lead={t.operator.teamLead}
      actions={
        <Button takes="setOperator" look="primary" onClick={() => setAdding(true)}>
          {t.operator.addOperator}
        </Button>
      }
    >
      <Loaded query={operators} skeleton={<TableSkeleton />}>
        {(list) => (
          <Table
            caption={t.nav.operatorTeam}
            rows={list}
            rowKey={({ id }) => id}
            columns={[
              {
                head: t.members.name,
                names: true,
                cell: ({ name, email }) => (
                  <>
                    <bdi>{name}</bdi>
                    <span className="note">{email}</span>
                  </>
                ),
              },
              { head: t.members.role, cell: ({ operatorRole }) => roleName(t, operatorRole) },
              {
                head: t.operator.secondFactor,
                cell: ({ secondFactor }) => (
                  <Badge tone={secondFactor ? 'usual' : 'warn'}>{secondFactor ? t.webhooks.on : t.webhooks.off}</Badge>
                ),
              },
              {
                head: t.common.actions,
                silentHead: true,
                cell: (operator) => (
                  <div className="row-actions">
                    <Button
                      takes="setOperator"
                      small
                      aria-label={fill(t.operator.changeRoleOf, { name: operator.name })}
                      onClick={() => setChanging(operator)}
                    >
                      {t.operator.changeRole}
                    </Button>
                    {isLastOwner(operator, list) ? null : (
                      <Button
                        takes="setOperator"
                        small
                        look="danger"
                        aria-label={fill(t.operator.removeOperatorWhat, { name: operator.name })}
                        onClick={() => setRemoving(operator)}
                      >
                        {t.common.remove}
                      </Button>
                    )}
                  </div>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {adding ? <AddDialog onClose={() => setAdding(false)} /> : null}
      {changing === null ? null : (
        <RoleDialog operator={changing} isSelf={changing.id === person.id} onClose={() => setChanging(null)} />
      )}
      {removing === null ? null : (
        <RemoveDialog operator={removing} isSelf={removing.id === person.id} onClose={() => setRemoving(null)} />
      )}
    </Page>
  );
}

type Role = 'OWNER' | 'FINANCE' | 'SUPPORT';

const roles: readonly Role[] = ['SUPPORT', 'FINANCE', 'OWNER'];

const isRole = (text: string | null): text is Role => roles.some((role) => role === text);

function roleName(t: ReturnType<typeof useOperatorLanguage>['t'], role: string | null): string {
  return isRole(role) ? t.operator.operatorRoles[role].name : t.operator.unknown;
}

/** The service is never without an owner. */
const isLastOwner = (operator: Operator, all: readonly Operator[]): boolean =>
  operator.operatorRole === 'OWNER' && all.filter(({ operatorRole }) => operatorRole === 'OWNER').length === 1;

function RoleField({ role, onChange }: { role: Role; onChange: (role: Role) => void }) {
  const { t } = useOperatorLanguage();
  return (
    <SelectField
      label={t.members.role}
      hint={t.operator.operatorRoles[role].text}
      value={role}
      onChange={(next) => onChange(isRole(next) ? next : role)}
      options={roles.map((value) => ({ value, label: t.operator.operatorRoles[value].name }))}
    />
  );
}

function RoleDialog({ operator, isSelf, onClose }: { operator: Operator; isSelf: boolean; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [role, setRole] = useState<Role>(isRole(operator.operatorRole) ? operator.operatorRole : 'SUPPORT');
  const change = useChange({
    change: (steyg, chosen: Role) =>
      steyg.console.operator.setOperator({ email: operator.email, operator: true, role: chosen }),
    refresh: isSelf ? [viewerKey, operatorsKey] : [operatorsKey],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const isLast = change.error instanceof ResultError && change.error.code === 'LAST_OPERATOR';
  return (
    <Dialog title={fill(t.operator.changeRoleOf, { name: operator.name })} onClose={onClose}>
      <Form
        onSubmit={() => change.mutate(role)}
        error={isLast ? null : change.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={change.isPending}>
              {t.common.save}
            </Button>
          </>
        }
      >
        <RoleField role={role} onChange={setRole} />
        {isLast ? <Banner tone="warn">{t.operator.lastOwner}</Banner> : null}
      </Form>
    </Dialog>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('SUPPORT');
  const add = useChange({
    change: (steyg, input: { email: string; role: Role }) =>
      steyg.console.operator.setOperator({ ...input, operator: true }),
    refresh: [operatorsKey],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const isUnknown = add.error instanceof ResultError && add.error.code === 'NOT_FOUND';
  return (
    <Dialog title={t.operator.addOperator} onClose={onClose}>
      <Form
        onSubmit={() => add.mutate({ email: email.trim(), role })}
        error={isUnknown ? null : add.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={add.isPending}>
              {t.operator.addOperator}
            </Button>
          </>
        }
      >
        <TextField
          label={t.signIn.email}
          hint={t.operator.addOperatorHint}
          type="email"
          required
          value={email}
          onChange={setEmail}
          error={isUnknown ? t.operator.noSuchPerson : undefined}
        />
        <RoleField role={role} onChange={setRole} />
      </Form>
    </Dialog>
  );
}

function RemoveDialog({ operator, isSelf, onClose }: { operator: Operator; isSelf: boolean; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const remove = useChange({
    change: (steyg, email: string) => steyg.console.operator.setOperator({ email, operator: false }),
    // Who removed themselves leaves these pages.
    refresh: isSelf ? [viewerKey] : [operatorsKey],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  return (
    <Confirm
      title={fill(t.operator.removeOperatorWhat, { name: operator.name })}
      action={t.common.remove}
      busy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate(operator.email)}
    >
      <p>{isSelf ? t.operator.removeSelfText : fill(t.operator.removeOperatorText, { name: operator.name })}</p>
      {remove.error === null ? null : <FailureNotice error={remove.error} />}
    </Confirm>
  );
}
