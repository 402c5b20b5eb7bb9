/** Chooses one of an account's keys, however many there are: above one page of them it has a search. */

import { useAsk } from '../data.tsx';
import { masked } from '../format.ts';
import { useLanguage } from '../language/language.tsx';
import { useAccount } from '../session.tsx';
import { SelectField } from './field.tsx';
import { SearchField, useSearch } from './search-field.tsx';

interface NamedKey {
  name: string;
  last4: string;
  deletedAt: string | null;
}

/** A key as people know it: names are not unique, and old keys are among those of a report. */
export function useKeyName(): (key: NamedKey) => string {
  const { t } = useLanguage();
  return ({ name, last4, deletedAt }) =>
    `${name} ${masked(last4)}${deletedAt === null ? '' : ` (${t.keys.statuses.DELETED})`}`;
}

const shown = 50;

export function KeyField({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const nameOf = useKeyName();
  const search = useSearch();
  const keys = useAsk({
    key: ['keys', accountId, 'choice', search.asked],
    ask: (steyg, signal) =>
      steyg.console.keys.listKeys({ accountId, deleted: true, first: shown, search: search.asked }, { signal }),
  });
  const found = keys.data?.edges.map(({ node }) => node) ?? [];
  const isElsewhere = value !== '' && !found.some(({ id }) => id === value);
  // The chosen key can be an old one, or one of another search.
  const chosen = useAsk({
    key: ['keys', accountId, 'one', value],
    ask: (steyg, signal) => steyg.console.keys.findKey({ id: value }, { signal }),
    when: isElsewhere,
  });
  const others = isElsewhere && chosen.data != null && 'last4' in chosen.data ? [chosen.data] : [];
  const isLong = search.text !== '' || (keys.data?.totalCount ?? 0) > shown;
  return (
    <>
      {isLong ? <SearchField search={search} label={t.keys.find} /> : null}
      <SelectField
        label={t.activity.key}
        value={value}
        onChange={onChange}
        options={[
          { value: '', label: t.activity.allKeys },
          ...[...others, ...found].map((key) => ({ value: key.id, label: nameOf(key) })),
        ]}
      />
    </>
  );
}
