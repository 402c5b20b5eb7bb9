import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { useLanguage } from '../language/language.tsx';
import type { InputProblems } from '../problems.ts';
import { useAccount } from '../session.tsx';
import { Choice, TextField } from './field.tsx';
import { Card } from './page.tsx';
import { FailureNotice } from './states.tsx';

/** Who pays: asked before an order is made, remembered with the account, named by its receipts and e-invoices. */

interface Company {
  name: string;
  taxCode: string;
  address: string;
}

const nobody: Company = { name: '', taxCode: '', address: '' };
/** The inputs, as a refusal of the company names them. */
const payerFields = ['name', 'taxCode', 'address'] as const;
type PayerProblems = InputProblems<(typeof payerFields)[number]>;

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
      return account?.company ?? nobody;
    },
  });
  const [chosen, choose] = useState<boolean | null>(null);
  const [typed, setTyped] = useState<Partial<Company>>({});
  const [isMissing, setMissing] = useState(false);
  const save = useChange({
    change: (steyg, company: Company | null) => steyg.console.orders.setCompany({ accountId, input: company }),
    refresh: [['company', accountId]],
  });
  const known = data ?? nobody;
  const isCompany = chosen ?? known.name !== '';
  const draft = { name: known.name, taxCode: known.taxCode, address: known.address, ...typed };
  const { fields, rest } = useProblems(save.error, payerFields);
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
      const wanted = isCompany ? trimmed(draft) : null;
      const missing = wanted !== null && (wanted.name === '' || wanted.taxCode === '');
      setMissing(missing);
      if (missing) return;
      const isSaved =
        wanted === null ? known.name === '' : payerFields.every((field) => wanted[field] === known[field]);
      if (isSaved) order();
      else save.mutate(wanted, { onSuccess: order });
    },
  };
}

function trimmed({ name, taxCode, address }: Company): Company {
  return { name: name.trim(), taxCode: taxCode.trim(), address: address.trim() };
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
          <TextField
            label={t.company.name}
            autoComplete="organization"
            maxLength={200}
            value={draft.name}
            onChange={(name) => set({ name })}
            error={problems.name ?? missing(draft.name)}
          />
          <TextField
            label={t.seller.taxCode}
            hint={t.company.taxCodeHint}
            maxLength={14}
            value={draft.taxCode}
            onChange={(taxCode) => set({ taxCode })}
            error={problems.taxCode ?? missing(draft.taxCode)}
          />
          <TextField
            label={t.company.address}
            autoComplete="street-address"
            maxLength={300}
            value={draft.address}
            onChange={(address) => set({ address })}
            error={problems.address}
          />
        </div>
      ) : null}
      {refusal === null ? null : <FailureNotice error={refusal} />}
      <p className="hint">{t.company.whoPaysHint}</p>
    </Card>
  );
}
