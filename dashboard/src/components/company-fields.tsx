import { useLanguage } from '../language/language.tsx';
import { TextField } from './field.tsx';

/** A company that an account buys for, as its receipts and e-invoices name it. */
export interface Company {
  name: string;
  taxCode: string;
  address: string;
}

export const noCompany: Company = { name: '', taxCode: '', address: '' };
/** The inputs, as a refusal of a company names them. */
export const companyFields = ['name', 'taxCode', 'address'] as const;

/** As it is saved: without the other members of an answer, and without white space around it. */
export function trimmedCompany({ name, taxCode, address }: Company): Company {
  return { name: name.trim(), taxCode: taxCode.trim(), address: address.trim() };
}

/** The inputs of a company. `problems`: what is wrong with each. */
export function CompanyFields({
  draft,
  set,
  problems,
}: {
  draft: Company;
  set: (values: Partial<Company>) => void;
  problems: Partial<Record<keyof Company, string | undefined>>;
}) {
  const { t } = useLanguage();
  return (
    <>
      <TextField
        label={t.company.name}
        autoComplete="organization"
        maxLength={200}
        value={draft.name}
        onChange={(name) => set({ name })}
        error={problems.name}
      />
      <TextField
        label={t.seller.taxCode}
        hint={t.company.taxCodeHint}
        maxLength={14}
        value={draft.taxCode}
        onChange={(taxCode) => set({ taxCode })}
        error={problems.taxCode}
      />
      <TextField
        label={t.company.address}
        autoComplete="street-address"
        maxLength={300}
        value={draft.address}
        onChange={(address) => set({ address })}
        error={problems.address}
      />
    </>
  );
}
