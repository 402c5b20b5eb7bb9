/** What operators sell beside plans: free amounts, and bonuses in steps. */

import type { BonusStepsAnswer, PlansAnswer, TopUpAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useExplain } from '../explain.ts';
import { fill, useOperatorLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { SelectField, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Card } from './page.tsx';
import { Loaded } from './states.tsx';
import { useSay } from './toasts.tsx';

const refresh = [['topUp'], ['bonusSteps']] as const;

export function TopUpOffers({ plans }: { plans: NonNullable<PlansAnswer> }) {
  // Null is an answer here, none are offered, and must not read as something that is missing.
  const topUp = useAsk({
    key: ['topUp', 'operator'],
    ask: async (steyg, signal) => ({ offer: await steyg.console.orders.topUp({}, { signal }) }),
  });
  const steps = useAsk({
    key: ['bonusSteps'],
    ask: (steyg, signal) => steyg.console.orders.bonusSteps({}, { signal }),
  });
  return (
    <div className="columns">
      <Loaded query={topUp}>{({ offer }) => <FreeAmounts plans={plans} offer={offer} />}</Loaded>
      <Loaded query={steps}>{(present) => <BonusSteps present={present} />}</Loaded>
    </div>
  );
}

const digits = (text: string) => text.replaceAll(/\D/g, '');

function FreeAmounts({ plans, offer }: { plans: NonNullable<PlansAnswer>; offer: TopUpAnswer }) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const explain = useExplain();
  const [draft, setDraft] = useState({
    planId: offer?.plan.planId ?? '',
    minVnd: offer?.minVnd ?? '',
    maxVnd: offer?.maxVnd ?? '',
  });
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  const written = (vnd: string) => (digits(vnd) === '' ? undefined : format.vnd(digits(vnd)));
  const save = useChange({
    change: (steyg, { planId, minVnd, maxVnd }: typeof draft) =>
      steyg.console.operator.saveTopUp({
        topUp: planId === '' ? null : { planId, minVnd: digits(minVnd), maxVnd: digits(maxVnd) },
      }),
    refresh,
    done: () => say(t.common.saved),
  });
  const { fields } = save.error === null ? { fields: {} as Record<string, string> } : explain(save.error);
  const isShown = 'minVnd' in fields || 'maxVnd' in fields;
  return (
    <Card title={t.operator.freeAmounts}>
      <p className="hint">{t.operator.freeAmountsLead}</p>
      <Form
        onSubmit={() => save.mutate(draft)}
        error={isShown ? null : save.error}
        actions={
          <Button takes="saveTopUp" type="submit" look="primary" busy={save.isPending}>
            {t.common.save}
          </Button>
        }
      >
        <SelectField
          label={t.operator.freeAmountsPlan}
          value={draft.planId}
          onChange={(planId) => set({ planId })}
          options={[
            { value: '', label: t.operator.freeAmountsNone },
            ...plans.map(({ planId, name, vndPerUsd }) => ({
              value: planId,
              label: `${name} (${fill(t.topUp.perUsd, { vnd: format.vnd(vndPerUsd) })})`,
            })),
          ]}
        />
        {draft.planId === '' ? null : (
          <div className="fields">
            <TextField
              label={t.operator.leastVnd}
              hint={written(draft.minVnd)}
              inputMode="numeric"
              required
              value={draft.minVnd}
              onChange={(minVnd) => set({ minVnd })}
              error={fields['minVnd']}
            />
            <TextField
              label={t.operator.mostVnd}
              hint={written(draft.maxVnd)}
              inputMode="numeric"
              required
              value={draft.maxVnd}
              onChange={(maxVnd) => set({ maxVnd })}
              error={fields['maxVnd']}
            />
          </div>
        )}
      </Form>
    </Card>
  );
}

interface StepDraft {
  id: number;
  fromVnd: string;
  percent: string;
}

/** Hundredths of a percent of a number that was typed; null: it is none. */
function basisPoints(percent: string): number | null {
  const text = percent.trim().replace(',', '.');
  return /^\d{1,3}(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : null;
}

function BonusSteps({ present }: { present: NonNullable<BonusStepsAnswer> }) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const [steps, setSteps] = useState<StepDraft[]>(() =>
    present.map((step, id) => ({ id, fromVnd: step.fromVnd, percent: String(step.basisPoints / 100) })),
  );
  const set = (id: number, values: Partial<StepDraft>) =>
    setSteps(steps.map((step) => (step.id === id ? { ...step, ...values } : step)));
  const save = useChange({
    change: (steyg, list: StepDraft[]) =>
      steyg.console.operator.saveBonusSteps({
        steps: list.map(({ fromVnd, percent }) => ({
          fromVnd: digits(fromVnd),
          basisPoints: basisPoints(percent) ?? 0,
        })),
      }),
    refresh,
    done: () => say(t.common.saved),
  });
  const isWhole = steps.every(({ percent }) => basisPoints(percent) !== null);
  return (
    <Card
      title={t.operator.bonusSteps}
      actions={
        steps.length >= 10 ? null : (
          <Button
            small
            onClick={() =>
              setSteps([...steps, { id: Math.max(0, ...steps.map(({ id }) => id)) + 1, fromVnd: '', percent: '' }])
            }
          >
            {t.operator.addBonusStep}
          </Button>
        )
      }
    >
      <p className="hint">{t.operator.bonusStepsLead}</p>
      <Form
        onSubmit={() => {
          if (isWhole) save.mutate(steps);
        }}
        error={save.error}
        actions={
          <Button takes="saveTopUp" type="submit" look="primary" busy={save.isPending}>
            {t.common.save}
          </Button>
        }
      >
        {steps.map((step) => (
          <div className="fields" key={step.id}>
            <TextField
              label={t.operator.bonusFrom}
              hint={step.fromVnd === '' ? undefined : format.vnd(digits(step.fromVnd) || '0')}
              inputMode="numeric"
              required
              value={step.fromVnd}
              onChange={(fromVnd) => set(step.id, { fromVnd })}
            />
            <TextField
              label={t.operator.bonusPercent}
              inputMode="decimal"
              required
              value={step.percent}
              onChange={(percent) => set(step.id, { percent })}
              error={step.percent === '' || basisPoints(step.percent) !== null ? undefined : t.operator.aPercent}
            />
            <Button
              small
              look="danger"
              aria-label={fill(t.operator.removeBonusStep, { vnd: format.vnd(digits(step.fromVnd) || '0') })}
              onClick={() => setSteps(steps.filter(({ id }) => id !== step.id))}
            >
              {t.common.remove}
            </Button>
          </div>
        ))}
      </Form>
    </Card>
  );
}
