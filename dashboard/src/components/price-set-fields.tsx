/** The editor of one set of five prices. */

import { useOperatorLanguage } from '../language/language.tsx';
import { isUsd } from '../money.ts';
import { kinds, optional, type SetDraft } from '../price-draft.ts';
import type { InputProblems } from '../problems.ts';
import { TextField } from './field.tsx';

/** The five prices of a set. */
export function SetFields({
  draft,
  onChange,
  fields = {},
  required,
}: {
  draft: SetDraft;
  onChange: (draft: SetDraft) => void;
  fields?: InputProblems<(typeof kinds)[number]>;
  required: boolean;
}) {
  const { t } = useOperatorLanguage();
  return (
    <div className="fields">
      {kinds.map((kind) => (
        <TextField
          key={kind}
          label={t.models[kind]}
          inputMode="decimal"
          required={required && !optional.has(kind)}
          placeholder={optional.has(kind) ? t.operator.asInput : ''}
          value={draft[kind]}
          onChange={(value) => onChange({ ...onlySet(draft), [kind]: value })}
          error={fields[kind] ?? (draft[kind] === '' || isUsd(draft[kind], 6) ? undefined : t.problems.price)}
        />
      ))}
    </div>
  );
}

/** A set without the other members of a draft, which must not overwrite newer ones. */
function onlySet({ input, cacheHit, output, cacheWrite5m, cacheWrite1h }: SetDraft): SetDraft {
  return { input, cacheHit, output, cacheWrite5m, cacheWrite1h };
}
