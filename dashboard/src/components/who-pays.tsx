import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { useLanguage } from '../language/language.tsx';
import type { InputProblems } from '../problems.ts';
import { useAccount } from '../session.tsx';
import { type Company, CompanyFields, companyFields, noCompany, trimmedCompany } from './company-fields.tsx';
import { Choice } from './field.tsx';
import { Card } from './page.tsx';
import { FailureNotice } from './states.tsx';

/** Who pays: asked before an order is made, remembered with the account, named by its receipts and e-invoices. */

type PayerProblems = InputProblems<(typeof companyFields)[number]>;

export interface WhoPaysState {
  /** Undefined: not known yet. */
  data: Company | undefined;
  error: Error | null;
  isPaused: boolean;
  isCompany: boolean;
  draft: Company;
  /** Something that every company has is left out. */
  isMissing: boolean;
  isSaving: boolean;
  problems: PayerProblems;
  /** A refusal that no input shows. */
  refusal: unknown;
  choose: (isCompany: boolean) => void;
  set: (values: Partial<Company>) => void;
  /** Saves what was changed, then orders; says what is missing or wrong instead. */
  before: (order: () => void) => void;
}

export function usePayer(): WhoPaysState {
  const { id: accountId } = useAccount();
  const { data, error, isPaused } = useAsk({
    // Beside the answer of the settings, which has another shape.
    key: ['company', accountId, 'payer'],
    ask: async (steyg, signal) => {
      const account = await steyg.console.orders.company({ accountId }, { signal });
      return account?.company ?? noCompany;
    },
  });
  const [chosen, choose] = useState<boolean | null>(null);
  const [typed, setTyped] = useState<Partial<Company>>({});
  const [isMissing, setMissing] = useState(false);
  const save = useChange({
    change: (steyg, company: Company | null) => steyg.console.orders.setCompany({ accountId, input: company }),
    refresh: [['company', accountId]],
  });
  const known = data ?? noCompany;
  const isCompany = chosen ?? known.name !== '';
  const draft = { name: known.name, taxCode: known.taxCode, address: known.address, ...typed };
  const { fields, rest } = useProblems(save.error, companyFields);
  return {
    data,
    error,
    isPaused,
    isCompany,
    draft,
    isMissing,
    isSaving: save.isPending,
    problems: fields,
    refusal: rest,
    choose,
    set: (values) => setTyped({ ...typed, ...values }),
    before(order) {
      const wanted = isCompany ? trimmedCompany(draft) : null;
      const missing = wanted !== null && (wanted.name === '' || wanted.taxCode === '');
      setMissing(missing);
      if (missing) return;
      const isSaved =
        wanted === null ? known.name === '' : companyFields.every((field) => wanted[field] === known[field]);
      if (isSaved) order();
      else save.mutate(wanted, { onSuccess: order });
    },
  };
}

export function WhoPays({ payer }: { payer: WhoPaysState }) {
  const { t } = useLanguage();
  const { draft, isCompany, isMissing, problems, refusal, choose, set } = payer;
  const missing = (text: string) => (isMissing && text.trim() === '' ? t.company.needed : undefined);
  return (
    <Card title={t.company.whoPays}>
      <Choice
        label={t.company.whoPays}
        value={isCompany ? 'company' : 'person'}
        options={[
          { value: 'person', label: t.company.myself },
          { value: 'company', label: t.company.aCompany },
        ]}
        onChange={(next) => choose(next === 'company')}
      />
      {isCompany ? (
        <div className="fields">
          <CompanyFields
            draft={draft}
            set={set}
            problems={{
              name: problems.name ?? missing(draft.name),
              taxCode: problems.taxCode ?? missing(draft.taxCode),
              address: problems.address,
            }}
          />
        </div>
      ) : null}
      {refusal === null ? null : <FailureNotice error={refusal} />}
      <p className="hint">{t.company.whoPaysHint}</p>
    </Card>
  );
}
