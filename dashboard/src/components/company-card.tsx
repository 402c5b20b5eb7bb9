import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { useLanguage } from '../language/language.tsx';
import { useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { type Company, CompanyFields, companyFields, noCompany, trimmedCompany } from './company-fields.tsx';
import { Form } from './form.tsx';
import { Fold } from './page.tsx';
import { Loaded } from './states.tsx';
import { useSay } from './toasts.tsx';

/** The company that an account buys for, as its receipts name it. */

export function CompanyCard() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const company = useAsk({
    key: ['company', accountId],
    ask: (steyg, signal) => steyg.console.orders.company({ accountId }, { signal }),
  });
  return (
    <Fold
      title={t.company.title}
      state={company.data == null ? undefined : (company.data.company?.name ?? t.company.none)}
    >
      <Loaded query={company}>
        {(account) => <CompanyForm accountId={accountId} company={account.company ?? noCompany} />}
      </Loaded>
    </Fold>
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
    change: (steyg, typed: Company) => {
      const input = trimmedCompany(typed);
      // Nothing typed is no company; part of one is checked by the server.
      const isNone = Object.values(input).every((value) => value === '');
      return steyg.console.orders.setCompany({ accountId, input: isNone ? null : input });
    },
    refresh: [['company', accountId]],
    done: () => say(t.common.saved),
  });
  const { fields, rest } = useProblems(save.error, companyFields);
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
      <CompanyFields draft={draft} set={set} problems={fields} />
    </Form>
  );
}
