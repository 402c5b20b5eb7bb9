/** Who spent what: the monthly budgets of an account's people, and what the keys that they made have spent. */

import type { MemberSpendAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { isUsd } from '../money.ts';
import { useAbilities, useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { Spark } from './chart.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Card } from './page.tsx';
import { useSpendingTexts } from './spending-texts.ts';
import { Loaded, TableSkeleton } from './states.tsx';
import { Table } from './table.tsx';
import { useSay } from './toasts.tsx';

type PersonSpend = NonNullable<MemberSpendAnswer>[number];

export function useMemberSpend() {
  const { id: accountId } = useAccount();
  return useAsk({
    key: ['member-spend', accountId],
    ask: (steyg, signal) => steyg.console.keys.memberSpend({ accountId, months: 4 }, { signal }),
  });
}

export function MemberSpendCard() {
  const texts = useSpendingTexts();
  const { billing } = useAbilities();
  const spend = useMemberSpend();
  return (
    <Card title={texts.members.title}>
      <p>{billing ? texts.members.text : texts.members.own}</p>
      <Loaded query={spend} skeleton={<TableSkeleton />}>
        {(list) => <SpendTable people={list ?? []} mayChange={billing} />}
      </Loaded>
    </Card>
  );
}

function SpendTable({ people, mayChange }: { people: readonly PersonSpend[]; mayChange: boolean }) {
  const { t, format } = useLanguage();
  const texts = useSpendingTexts();
  const [open, setOpen] = useState<PersonSpend | null>(null);
  const nameOf = ({ name }: PersonSpend) => name ?? texts.forgotten;
  return (
    <>
      <Table
        caption={texts.members.title}
        rows={people}
        rowKey={({ memberId }) => memberId}
        columns={[
          {
            head: t.members.name,
            names: true,
            cell: (person) => (
              <>
                {nameOf(person)}
                {person.isMember ? null : <span className="note">{texts.members.former}</span>}
              </>
            ),
          },
          {
            head: texts.members.thisMonth,
            figure: true,
            cell: ({ thisMonth, monthlyBudget, held }) => (
              <>
                {monthlyBudget === null
                  ? format.usd(thisMonth)
                  : fill(texts.members.ofBudget, { spent: format.usd(thisMonth), budget: format.usd(monthlyBudget) })}
                {held === '0' ? null : (
                  <span className="note line">{fill(texts.members.held, { usd: format.usd(held) })}</span>
                )}
              </>
            ),
          },
          {
            head: texts.members.before,
            figure: true,
            cell: ({ months }) => {
              const [first, ...others] = months;
              const isPresent = first?.month === presentMonth(people);
              const past = isPresent ? others : months;
              return past.length === 0
                ? format.usd('0')
                : past.map(({ month, charged }) => (
                    <span key={month} className="row line">
                      {format.monthOf(month)} · {format.usd(charged)}
                    </span>
                  ));
            },
          },
          {
            head: texts.members.trend,
            cell: (person) => {
              const shown = lastMonths(people);
              if (shown.length < 2) return null;
              const charged = new Map(person.months.map(({ month, charged: sum }) => [month, sum]));
              const words = shown.map((month) => `${format.monthOf(month)} ${format.usd(charged.get(month) ?? '0')}`);
              return (
                <Spark
                  label={`${nameOf(person)}: ${words.join(', ')}`}
                  values={shown.map((month) => Number(charged.get(month) ?? '0'))}
                />
              );
            },
          },
          { head: texts.members.lifetime, figure: true, cell: ({ lifetime }) => format.usd(lifetime) },
          { head: texts.members.keys, figure: true, cell: ({ keys }) => format.number(keys) },
          {
            head: t.common.actions,
            silentHead: true,
            cell: (person) =>
              mayChange ? (
                <div className="row-actions">
                  <Button
                    small
                    aria-label={fill(texts.members.setWhat, { name: nameOf(person) })}
                    onClick={() => setOpen(person)}
                  >
                    {texts.members.set}
                  </Button>
                </div>
              ) : null,
          },
        ]}
      />
      {open === null ? null : <BudgetDialog person={open} name={nameOf(open)} onClose={() => setOpen(null)} />}
    </>
  );
}

/** Every month from the first to the last in which anybody spent, also those in which nobody did. */
function lastMonths(people: readonly PersonSpend[]): string[] {
  const known = people.flatMap(({ months }) => months.map(({ month }) => month)).toSorted();
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return [];
  const list = [first];
  for (let month = first; month < last && list.length < 12; list.push(month)) month = monthAfter(month);
  return list;
}

function monthAfter(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 7);
}

/** The present month in the account's time zone, as far as anybody spent in it. */
function presentMonth(people: readonly PersonSpend[]): string | undefined {
  return people.find(({ thisMonth, months }) => thisMonth !== '0' && months.length > 0)?.months[0]?.month;
}

function BudgetDialog({ person, name, onClose }: { person: PersonSpend; name: string; onClose: () => void }) {
  const { t } = useLanguage();
  const texts = useSpendingTexts();
  const say = useSay();
  const { id: accountId } = useAccount();
  const [amount, setAmount] = useState(person.monthlyBudget ?? '');
  const isUsable = amount.trim() === '' || isUsd(amount);
  const save = useChange({
    change: (steyg, month: string | null) =>
      steyg.console.keys.setMemberBudget({ input: { id: person.memberId, month } }),
    refresh: [['member-spend', accountId]],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const { fields, rest } = useProblems(save.error, ['month']);
  return (
    <Dialog title={fill(texts.members.setWhat, { name })} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (isUsable) save.mutate(amount.trim() === '' ? null : amount.trim());
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
        <TextField
          label={texts.members.amount}
          hint={texts.members.amountHint}
          inputMode="decimal"
          placeholder={t.keys.noLimit}
          value={amount}
          onChange={setAmount}
          error={isUsable ? fields['month'] : t.problems.usd}
        />
      </Form>
    </Dialog>
  );
}
