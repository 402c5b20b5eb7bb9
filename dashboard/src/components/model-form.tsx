/** The form of a catalog model, without prices and routes. */

import type { CatalogAnswer, ReasoningEffort, SaveModelAnswer, Success } from '@steyg/sdk';
import { useState } from 'react';
import { useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { asSent } from '../known.ts';
import { useOperatorLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { Checkbox, SelectField, TextField } from './field.tsx';
import { Form } from './form.tsx';

type Entry = NonNullable<CatalogAnswer>[number];

const effortsOf = (text: string) => words(text).map((word) => word.toUpperCase() as ReasoningEffort);
const words = (text: string) => text.split(/[\s,]+/).filter((word) => word !== '');

/** A model of the catalog, but for its prices and routes. */
export function ModelForm({
  entry,
  onSaved,
  onCancel,
}: {
  entry: Entry | null;
  onSaved: (saved: Success<SaveModelAnswer>) => void;
  onCancel?: () => void;
}) {
  const { t } = useOperatorLanguage();
  const [draft, setDraft] = useState({
    modelId: entry?.modelId ?? '',
    displayName: entry?.displayName ?? '',
    family: entry?.family ?? '',
    kind: entry?.kind ?? 'TEXT',
    contextWindow: String(entry?.contextWindow ?? 200_000),
    maxOutputTokens: String(entry?.maxOutputTokens ?? 32_000),
    capabilities: entry?.capabilities.join(', ') ?? 'tools',
    efforts: entry?.reasoningEfforts.join(', ').toLowerCase() ?? '',
    reasoningSpeed: String(entry?.reasoningTokensPerSecond ?? ''),
    allow: entry?.allow.join(', ') ?? '',
    enabled: entry?.enabled ?? true,
  });
  const save = useChange({
    change: (steyg, input: typeof draft) =>
      steyg.console.operator.saveModel({
        input: {
          modelId: input.modelId.trim(),
          displayName: input.displayName.trim(),
          family: input.family.trim(),
          kind: asSent(input.kind),
          contextWindow: Math.floor(Number(input.contextWindow)),
          maxOutputTokens: Math.floor(Number(input.maxOutputTokens)),
          capabilities: words(input.capabilities),
          reasoningEfforts: effortsOf(input.efforts).map(asSent),
          // Set by the catalog file; saving here must not reset it.
          onUnknownMembers: asSent(entry?.onUnknownMembers ?? 'PASS'),
          reasoningTokensPerSecond:
            input.reasoningSpeed.trim() === '' ? null : Math.floor(Number(input.reasoningSpeed)),
          allow: words(input.allow),
          enabled: input.enabled,
        },
      }),
    refresh: [['operator', 'catalog'], ['models']],
    done: onSaved,
  });
  const { fields, rest } = useProblems(save.error, [
    'modelId',
    'id',
    'displayName',
    'family',
    'kind',
    'contextWindow',
    'maxOutputTokens',
    'capabilities',
    'reasoningEfforts',
    'reasoningTokensPerSecond',
    'allow',
  ]);
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  // What is called `id` in the domain is `modelId` here.
  const idError = fields['modelId'] ?? fields['id'];
  return (
    <Form
      onSubmit={() => save.mutate(draft)}
      error={rest}
      actions={
        <>
          {onCancel === undefined ? null : <Button onClick={onCancel}>{t.common.cancel}</Button>}
          <Button takes="saveModel" type="submit" look="primary" busy={save.isPending}>
            {t.common.save}
          </Button>
        </>
      }
    >
      <div className="fields">
        <TextField
          label={t.operator.modelId}
          hint={t.operator.modelIdHint}
          required
          disabled={entry !== null}
          value={draft.modelId}
          onChange={(modelId) => set({ modelId })}
          error={idError}
        />
        <TextField
          label={t.operator.displayName}
          required
          maxLength={100}
          value={draft.displayName}
          onChange={(displayName) => set({ displayName })}
          error={fields['displayName']}
        />
        <TextField
          label={t.operator.family}
          required
          maxLength={60}
          value={draft.family}
          onChange={(family) => set({ family })}
          error={fields['family']}
        />
        <SelectField
          label={t.operator.modelKind}
          value={draft.kind}
          onChange={(kind) => set({ kind: kind === 'EMBEDDING' || kind === 'IMAGE' ? kind : 'TEXT' })}
          options={[
            { value: 'TEXT', label: t.operator.kindText },
            { value: 'EMBEDDING', label: t.operator.kindEmbedding },
            { value: 'IMAGE', label: t.operator.kindImage },
          ]}
          error={fields['kind']}
        />
        <TextField
          label={t.models.context}
          type="number"
          min={1}
          required
          value={draft.contextWindow}
          onChange={(contextWindow) => set({ contextWindow })}
          error={fields['contextWindow']}
        />
        <TextField
          label={t.models.maxOutput}
          type="number"
          min={1}
          required
          value={draft.maxOutputTokens}
          onChange={(maxOutputTokens) => set({ maxOutputTokens })}
          error={fields['maxOutputTokens']}
        />
        <TextField
          label={t.models.capabilities}
          hint={t.operator.wordsHint}
          value={draft.capabilities}
          onChange={(capabilities) => set({ capabilities })}
          error={fields['capabilities']}
        />
        <TextField
          label={t.operator.efforts}
          hint={t.operator.effortsHint}
          value={draft.efforts}
          onChange={(efforts) => set({ efforts })}
          error={fields['reasoningEfforts']}
        />
        <TextField
          label={t.operator.reasoningSpeed}
          hint={t.operator.reasoningSpeedHint}
          inputMode="numeric"
          value={draft.reasoningSpeed}
          onChange={(reasoningSpeed) => set({ reasoningSpeed })}
          error={fields['reasoningTokensPerSecond']}
        />
        <TextField
          label={t.operator.allow}
          hint={t.operator.allowHint}
          value={draft.allow}
          onChange={(allow) => set({ allow })}
          error={fields['allow']}
        />
      </div>
      <Checkbox label={t.operator.enabled} checked={draft.enabled} onChange={(enabled) => set({ enabled })} />
    </Form>
  );
}
