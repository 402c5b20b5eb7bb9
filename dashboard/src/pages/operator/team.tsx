/** The operator's page of the people who run the service. */

import { type ListOperatorsAnswer, ResultError } from '@steyg/sdk';
import { useState } from 'react';
import { viewerKey } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { FailureNotice, Loaded } from '../../components/states.tsx';
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
        <Button look="primary" onClick={() => setAdding(true)}>
          {t.operator.addOperator}
        </Button>
      }
    >
      <Loaded query={operators}>
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
              {
                head: t.operator.secondFactor,
                cell: ({ secondFactor }) => (
                  <Badge tone={secondFactor ? 'good' : 'warn'}>{secondFactor ? t.webhooks.on : t.webhooks.off}</Badge>
                ),
              },
              {
                head: t.common.actions,
                silentHead: true,
                cell: (operator) => (
                  <div className="row-actions">
                    {list.length === 1 ? null : (
                      <Button
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
      {removing === null ? null : (
        <RemoveDialog operator={removing} isSelf={removing.id === person.id} onClose={() => setRemoving(null)} />
      )}
    </Page>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [email, setEmail] = useState('');
  const add = useChange({
    change: (steyg, address: string) => steyg.console.operator.setOperator({ email: address, operator: true }),
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
        onSubmit={() => add.mutate(email.trim())}
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
