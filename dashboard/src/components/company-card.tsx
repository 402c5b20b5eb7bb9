import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { useLanguage } from '../language/language.tsx';
import { useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Card } from './page.tsx';
import { Loaded } from './states.tsx';
import { useSay } from './toasts.tsx';

/** The company that an account buys for, as its receipts name it. */

interface Company {
  name: string;
  taxCode: string;
  address: string;
}

export function CompanyCard() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const company = useAsk({
    key: ['company', accountId],
    ask: (steyg, signal) => steyg.console.orders.company({ accountId }, { signal }),
  });
  return (
    <Card title={t.company.title}>
      <Loaded query={company}>
        {(account) => (
          <CompanyForm accountId={accountId} company={account.company ?? { name: '', taxCode: '', address: '' }} />
        )}
      </Loaded>
    </Card>
  );
}

function CompanyForm({ accountId, company }: { accountId: string; company: Company }) {
  const { t } = useLanguage();
  const say = useSay();
  const [draft, setDraft] = useState<Company>({
    name: company.name,
    taxCode: company.taxCode,
    address: company.address,
  });
  const set = (values: Partial<Company>) => setDraft({ ...draft, ...values });
  const save = useChange({
    change: (steyg, { name, taxCode, address }: Company) =>
      steyg.console.orders.setCompany({
        accountId,
        input: name.trim() === '' ? null : { name: name.trim(), taxCode: taxCode.trim(), address: address.trim() },
      }),
    refresh: [['company', accountId]],
    done: () => say(t.common.saved),
  });
  const { fields, rest } = useProblems(save.error, ['name', 'taxCode', 'address']);
  return (
    <Form
      onSubmit={() => save.mutate(draft)}
      error={rest}
      actions={
        <Button type="submit" look="primary" busy={save.isPending}>
          {t.common.save}
        </Button>
      }
    >
      <p className="hint">{t.company.hint}</p>
      <TextField
        label={t.company.name}
        autoComplete="organization"
        maxLength={200}
        value={draft.name}
        onChange={(name) => set({ name })}
        error={fields['name']}
      />
      <TextField
        label={t.seller.taxCode}
        hint={t.company.taxCodeHint}
        inputMode="text"
        maxLength={14}
        value={draft.taxCode}
        onChange={(taxCode) => set({ taxCode })}
        error={fields['taxCode']}
      />
      <TextField
        label={t.company.address}
        autoComplete="street-address"
        maxLength={300}
        value={draft.address}
        onChange={(address) => set({ address })}
        error={fields['address']}
      />
    </Form>
  );
}
