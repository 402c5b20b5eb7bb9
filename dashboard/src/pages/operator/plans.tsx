/** The operator's page of plans, and of what is sold beside them: free amounts and bonuses. */

import type { PlansAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { TopUpOffers } from '../../components/top-up-offers.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { isUsd, parseUsd } from '../../money.ts';

type Plan = NonNullable<PlansAnswer>[number];

export default function Plans() {
  const { t, format } = useOperatorLanguage();
  const [editing, setEditing] = useState<Plan | 'new' | null>(null);
  const plans = useAsk({
    key: ['operator', 'plans'],
    ask: (steyg, signal) => steyg.console.operator.listAllPlans({}, { signal }),
  });
  return (
    <Page
      title={t.nav.operatorPlans}
      lead={t.operator.plansLead}
      actions={
        <Button takes="savePlan" look="primary" onClick={() => setEditing('new')}>
          {t.operator.addPlan}
        </Button>
      }
    >
      <Loaded query={plans}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={t.topUp.noPlans} />
          ) : (
            <Table
              caption={t.nav.operatorPlans}
              rows={list}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.order.plan,
                  names: true,
                  cell: ({ name, planId }) => (
                    <>
                      {name}
                      <br />
                      <code>{planId}</code>
                    </>
                  ),
                },
                { head: t.order.price, figure: true, cell: ({ priceVnd }) => format.vnd(priceVnd) },
                { head: t.order.budget, figure: true, cell: ({ budget }) => format.usd(budget) },
                { head: t.operator.perUsd, figure: true, cell: ({ vndPerUsd }) => format.vnd(vndPerUsd) },
                {
                  head: t.order.validity,
                  cell: ({ validDays }) =>
                    validDays === null ? t.topUp.noEnd : fill(t.topUp.validDays, { days: format.number(validDays) }),
                },
                {
                  head: t.operator.state,
                  cell: ({ onSale }) => (
                    <Badge tone={onSale ? 'usual' : 'plain'}>{onSale ? t.operator.onSale : t.operator.notOnSale}</Badge>
                  ),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (plan) => (
                    <div className="row-actions">
                      <Button
                        takes="savePlan"
                        small
                        aria-label={fill(t.operator.editWhat, { name: plan.name })}
                        onClick={() => setEditing(plan)}
                      >
                        {t.common.edit}
                      </Button>
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {plans.data == null ? null : <TopUpOffers plans={plans.data} />}
      {editing === null ? null : (
        <PlanDialog plan={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />
      )}
    </Page>
  );
}

function PlanDialog({ plan, onClose }: { plan: Plan | null; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const [draft, setDraft] = useState({
    planId: plan?.planId ?? '',
    name: plan?.name ?? '',
    priceVnd: plan?.priceVnd ?? '',
    budget: plan?.budget ?? '',
    validDays: plan?.validDays == null ? '' : String(plan.validDays),
    onSale: plan?.onSale ?? true,
  });
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  const save = useChange({
    change: (steyg, input: typeof draft) =>
      steyg.console.operator.savePlan({
        input: {
          planId: input.planId.trim(),
          name: input.name.trim(),
          priceVnd: input.priceVnd.trim(),
          budget: input.budget.trim(),
          validDays: input.validDays === '' ? null : Math.floor(Number(input.validDays)),
          onSale: input.onSale,
        },
      }),
    refresh: [['operator', 'plans'], ['plans'], ['models']],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const { fields, rest } = useProblems(save.error, ['planId', 'id', 'name', 'priceVnd', 'budget', 'validDays']);
  const isPrice = /^[1-9]\d{0,14}$/.test(draft.priceVnd.trim());
  const perUsd =
    isPrice && isUsd(draft.budget) && parseUsd(draft.budget) > 0n
      ? (BigInt(draft.priceVnd.trim()) * 1_000_000_000_000n) / parseUsd(draft.budget)
      : null;
  return (
    <Dialog
      title={plan === null ? t.operator.addPlan : fill(t.operator.editWhat, { name: plan.name })}
      onClose={onClose}
    >
      <Form
        onSubmit={() => {
          if (isPrice && isUsd(draft.budget)) save.mutate(draft);
        }}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={save.isPending}>
              {t.common.save}
            </Button>
          </>
        }
      >
        <div className="fields">
          <TextField
            label={t.operator.planId}
            required
            disabled={plan !== null}
            value={draft.planId}
            onChange={(planId) => set({ planId })}
            error={fields['planId'] ?? fields['id']}
          />
          <TextField
            label={t.keys.name}
            required
            maxLength={100}
            value={draft.name}
            onChange={(name) => set({ name })}
            error={fields['name']}
          />
          <TextField
            label={t.operator.planPrice}
            hint={isPrice ? format.vnd(draft.priceVnd.trim()) : undefined}
            inputMode="numeric"
            required
            value={draft.priceVnd}
            onChange={(priceVnd) => set({ priceVnd })}
            error={fields['priceVnd'] ?? (draft.priceVnd === '' || isPrice ? undefined : t.problems.vnd)}
          />
          <TextField
            label={t.operator.planBudget}
            inputMode="decimal"
            required
            value={draft.budget}
            onChange={(budget) => set({ budget })}
            error={fields['budget'] ?? (draft.budget === '' || isUsd(draft.budget) ? undefined : t.problems.usd)}
          />
          <TextField
            label={t.operator.validDays}
            hint={t.operator.validDaysHint}
            type="number"
            min={1}
            value={draft.validDays}
            onChange={(validDays) => set({ validDays })}
            error={fields['validDays']}
          />
        </div>
        <Checkbox label={t.operator.onSale} checked={draft.onSale} onChange={(onSale) => set({ onSale })} />
        {perUsd === null ? null : <p>{fill(t.topUp.perUsd, { vnd: format.vnd(String(perUsd)) })}</p>}
        <p className="hint">{t.operator.planHint}</p>
      </Form>
    </Dialog>
  );
}
