/** The operator's list of accounts. */

import type { AccountStatus } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { SelectField, TextField } from '../../components/field.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { Empty, Loaded, More } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { usePages } from '../../data.tsx';
import { useOperatorLanguage } from '../../language/language.tsx';
import { pages, pathTo } from '../../pages.ts';

export default function Accounts() {
  const { t, format } = useOperatorLanguage();
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
    <Page title={t.nav.operatorAccounts} lead={t.operator.accountsLead}>
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
      <Loaded query={accounts}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noAccounts} />
          ) : (
            <Table
              caption={t.nav.operatorAccounts}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.operator.account,
                  names: true,
                  cell: ({ id, name, email }) => (
                    <>
                      <Link href={pathTo(pages.operatorAccount, { id })}>{name}</Link>
                      <span className="note">{email}</span>
                    </>
                  ),
                },
                {
                  head: t.operator.status,
                  cell: (account) => (
                    <Badge tone={account.status === 'ACTIVE' ? 'good' : 'bad'}>
                      {t.operator.accountStatuses[account.status]}
                    </Badge>
                  ),
                },
                { head: t.overview.free, figure: true, cell: ({ budget }) => format.usdTile(budget.free) },
                { head: t.activity.charged, figure: true, cell: ({ budget }) => format.usd(budget.charged) },
                { head: t.operator.granted, figure: true, cell: ({ budget }) => format.usd(budget.granted) },
                { head: t.operator.opened, cell: ({ createdAt }) => format.date(createdAt) },
              ]}
            />
          )
        }
      </Loaded>
      <More query={accounts} />
    </Page>
  );
}
