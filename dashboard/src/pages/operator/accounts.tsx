/** The operator's list of accounts. */

import type { AccountStatus } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { Empty, Loaded, More, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { Usd } from '../../components/usd.tsx';
import { useChange, usePages } from '../../data.tsx';
import { useExplain } from '../../explain.ts';
import { useOperatorLanguage } from '../../language/language.tsx';
import { isUsd } from '../../money.ts';
import { pages, pathTo } from '../../pages.ts';

export default function Accounts() {
  const { t, format } = useOperatorLanguage();
  const [opening, setOpening] = useState(false);
  const [text, setText] = useState('');
  const [status, setStatus] = useState<AccountStatus | ''>('');
  const search = useDeferredValue(text.trim());
  const accounts = usePages({
    key: ['operator', 'accounts', search, status],
    ask: (steyg, after, signal) =>
      steyg.console.operator.listAccounts(
        { after, first: 25, search: search === '' ? null : search, status: status === '' ? null : status },
        { signal },
      ),
  });
  return (
    <Page
      title={t.nav.operatorAccounts}
      lead={t.operator.accountsLead}
      actions={
        <Button takes="openAccount" onClick={() => setOpening(true)}>
          {t.operator.openAccount}
        </Button>
      }
    >
      <div className="filters">
        <TextField label={t.common.search} hint={t.operator.searchHint} type="search" value={text} onChange={setText} />
        <SelectField
          label={t.operator.status}
          value={status}
          onChange={(value) => setStatus(value as AccountStatus | '')}
          options={[
            { value: '', label: t.operator.anyStatus },
            { value: 'ACTIVE', label: t.operator.accountStatuses.ACTIVE },
            { value: 'SUSPENDED', label: t.operator.accountStatuses.SUSPENDED },
          ]}
        />
      </div>
      <Loaded query={accounts} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noAccounts} />
          ) : (
            <Table
              caption={t.nav.operatorAccounts}
              rows={rows}
              rowKey={({ id }) => id}
              rowClass={({ status }) => (status === 'ACTIVE' ? 'fine labelled' : 'labelled')}
              columns={[
                {
                  head: t.operator.account,
                  names: true,
                  slot: 'title',
                  cell: ({ id, name, email }) => (
                    <>
                      <Link href={pathTo(pages.operatorAccount, { id })}>{name}</Link>
                      <span className="note">{email}</span>
                    </>
                  ),
                },
                {
                  head: t.operator.status,
                  slot: 'mark',
                  cell: (account) => (
                    <Badge tone={account.status === 'ACTIVE' ? 'usual' : 'bad'}>
                      {t.operator.accountStatuses[account.status ?? 'OTHER']}
                    </Badge>
                  ),
                },
                {
                  head: t.overview.free,
                  figure: true,
                  slot: 'side',
                  cell: ({ budget }) => <Usd amount={budget.free} />,
                },
                {
                  head: t.activity.charged,
                  figure: true,
                  slot: 'middle',
                  cell: ({ budget }) => <Usd amount={budget.charged} />,
                },
                {
                  head: t.operator.granted,
                  figure: true,
                  slot: 'end',
                  cell: ({ budget }) => <Usd amount={budget.granted} />,
                },
                { head: t.operator.opened, slot: 'start', cell: ({ createdAt }) => format.date(createdAt) },
              ]}
            />
          )
        }
      </Loaded>
      <More query={accounts} />
      {opening ? <OpenDialog onClose={() => setOpening(false)} /> : null}
    </Page>
  );
}

/** Opens an account for somebody, and leads to it. */
function OpenDialog({ onClose }: { onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const explain = useExplain();
  const [, go] = useLocation();
  const [draft, setDraft] = useState({ email: '', name: '', budget: '' });
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  const open = useChange({
    change: (steyg, { email, name, budget }: typeof draft) =>
      steyg.console.operator.openAccount({
        input: {
          email: email.trim(),
          name: name.trim() === '' ? null : name.trim(),
          budget: budget.trim() === '' ? null : budget.trim(),
        },
      }),
    refresh: [['operator']],
    done: ({ id }) => {
      say(t.operator.accountOpened);
      onClose();
      go(pathTo(pages.operatorAccount, { id }));
    },
  });
  const { fields } = open.error === null ? { fields: {} as Record<string, string> } : explain(open.error);
  return (
    <Dialog title={t.operator.openAccount} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (draft.budget === '' || isUsd(draft.budget)) open.mutate(draft);
        }}
        error={Object.keys(fields).length > 0 ? null : open.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={open.isPending}>
              {t.operator.openAccount}
            </Button>
          </>
        }
      >
        <TextField
          label={t.signIn.email}
          hint={t.operator.openAccountHint}
          type="email"
          required
          value={draft.email}
          onChange={(email) => set({ email })}
          error={fields['email']}
        />
        <TextField
          label={t.operator.openAccountName}
          hint={t.operator.openAccountNameHint}
          maxLength={100}
          value={draft.name}
          onChange={(name) => set({ name })}
          error={fields['name']}
        />
        <TextField
          label={t.operator.openAccountBudget}
          hint={t.operator.openAccountBudgetHint}
          inputMode="decimal"
          value={draft.budget}
          onChange={(budget) => set({ budget })}
          error={fields['budget'] ?? (draft.budget === '' || isUsd(draft.budget) ? undefined : t.problems.usd)}
        />
      </Form>
    </Dialog>
  );
}
