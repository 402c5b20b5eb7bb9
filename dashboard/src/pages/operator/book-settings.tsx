/** What an operator sets for the books: exchange rates, taxes, numbers of accounts. */

import type { BookSettingsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Checkbox, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Card } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { useBookTexts } from '../../language/books.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';

const settingsKey = ['operator', 'book-settings'];
type Settings = NonNullable<BookSettingsAnswer>;

/** The month before this one, which is closed next. */
const lastMonth = (): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth() - 1)).toISOString().slice(0, 7);
};

export function BookSettings() {
  const words = useBookTexts().settings;
  const [month] = useState(lastMonth);
  const settings = useAsk({
    key: settingsKey,
    ask: (steyg, signal) => steyg.console.books.bookSettings({ month }, { signal }),
  });
  return (
    <Card title={words.title}>
      <p className="hint">{words.hint}</p>
      <Loaded query={settings}>
        {(found) => (
          <>
            <details>
              <summary>{words.rate}</summary>
              <RateForm month={month} rates={found.exchangeRates} />
            </details>
            <details>
              <summary>{words.taxes}</summary>
              <TaxesForm taxes={found.bookTaxes} />
            </details>
            <details>
              <summary>{words.accounts}</summary>
              <AccountsForm accounts={found.journalAccounts} />
            </details>
          </>
        )}
      </Loaded>
    </Card>
  );
}

function useSaved() {
  const { t } = useOperatorLanguage();
  const say = useSay();
  return () => say(t.common.saved);
}

function RateForm({ month, rates }: { month: string; rates: Settings['exchangeRates'] }) {
  const words = useBookTexts().settings;
  const [draft, setDraft] = useState({ period: month, rate: '', source: '' });
  const save = useChange({
    change: (steyg, input: typeof draft) => steyg.console.books.setExchangeRate({ input }),
    refresh: [['operator']],
    done: useSaved(),
  });
  const { fields, rest } = useProblems(save.error, ['period', 'rate', 'source']);
  return (
    <Form onSubmit={() => save.mutate(draft)} error={rest} actions={<SaveButton busy={save.isPending} />}>
      {rates.map(({ period, rate, source }) => (
        <p key={period}>{fill(words.rateOf, { period, rate, source })}</p>
      ))}
      <div className="fields">
        <TextField
          label={words.period}
          required
          value={draft.period}
          onChange={(period) => setDraft({ ...draft, period })}
          error={fields['period']}
        />
        <TextField
          label={words.vndPerUsd}
          inputMode="decimal"
          required
          value={draft.rate}
          onChange={(rate) => setDraft({ ...draft, rate })}
          error={fields['rate']}
        />
        <TextField
          label={words.source}
          required
          maxLength={200}
          value={draft.source}
          onChange={(source) => setDraft({ ...draft, source })}
          error={fields['source']}
        />
      </div>
    </Form>
  );
}

const percents = ['salesVat', 'foreignVat', 'foreignIncome'] as const;
const percent = /^\d{1,2}(\.\d{1,2})?$/;

function TaxesForm({ taxes }: { taxes: Settings['bookTaxes'] }) {
  const { format } = useOperatorLanguage();
  const words = useBookTexts().settings;
  const [now] = taxes;
  const [draft, setDraft] = useState({
    validFrom: `${new Date().toISOString().slice(0, 7)}-01`,
    salesVat: String((now?.salesVat ?? 0) / 100),
    foreignVat: String((now?.foreignVat ?? 0) / 100),
    foreignIncome: String((now?.foreignIncome ?? 0) / 100),
    foreignNet: now?.foreignNet ?? false,
  });
  const isRight = percents.every((name) => percent.test(draft[name].trim()));
  const save = useChange({
    change: (steyg, { validFrom, foreignNet, ...given }: typeof draft) => {
      const hundredths = (text: string): number => Math.round(Number(text) * 100);
      return steyg.console.books.setBookTaxes({
        input: {
          validFrom,
          foreignNet,
          salesVat: hundredths(given.salesVat),
          foreignVat: hundredths(given.foreignVat),
          foreignIncome: hundredths(given.foreignIncome),
        },
      });
    },
    refresh: [['operator']],
    done: useSaved(),
  });
  const { fields, rest } = useProblems(save.error, ['validFrom', ...percents]);
  return (
    <Form
      onSubmit={() => {
        if (isRight) save.mutate(draft);
      }}
      error={rest}
      actions={<SaveButton busy={save.isPending} />}
    >
      {taxes.map(({ validFrom, salesVat, foreignVat, foreignIncome }) => (
        <p key={validFrom}>
          {fill(words.taxesOf, {
            day: validFrom,
            sales: format.percent(salesVat / 10_000),
            vat: format.percent(foreignVat / 10_000),
            income: format.percent(foreignIncome / 10_000),
          })}
        </p>
      ))}
      <div className="fields">
        <TextField
          label={words.validFrom}
          required
          placeholder="2026-10-01"
          value={draft.validFrom}
          onChange={(validFrom) => setDraft({ ...draft, validFrom })}
          error={fields['validFrom']}
        />
        {percents.map((name) => (
          <TextField
            key={name}
            label={words[name]}
            inputMode="decimal"
            required
            value={draft[name]}
            onChange={(value) => setDraft({ ...draft, [name]: value })}
            error={fields[name] ?? (percent.test(draft[name].trim()) ? undefined : words.percentProblem)}
          />
        ))}
      </div>
      <Checkbox
        label={words.foreignNet}
        checked={draft.foreignNet}
        onChange={(foreignNet) => setDraft({ ...draft, foreignNet })}
      />
    </Form>
  );
}

function AccountsForm({ accounts }: { accounts: Settings['journalAccounts'] }) {
  const words = useBookTexts().settings;
  const { roles } = words;
  const [draft, setDraft] = useState(() => new Map(accounts.map(({ role, number }) => [role, number])));
  const save = useChange({
    change: (steyg, given: typeof draft) =>
      steyg.console.books.saveJournalAccounts({
        accounts: [...given].map(([role, number]) => ({ role, number: number.trim() })),
      }),
    refresh: [['operator']],
    done: useSaved(),
  });
  return (
    <Form onSubmit={() => save.mutate(draft)} error={save.error} actions={<SaveButton busy={save.isPending} />}>
      <div className="fields">
        {accounts.map(({ role }) => (
          <TextField
            key={role}
            label={roles[role]}
            required
            maxLength={20}
            value={draft.get(role) ?? ''}
            onChange={(number) => setDraft(new Map(draft).set(role, number))}
          />
        ))}
      </div>
    </Form>
  );
}

function SaveButton({ busy }: { busy: boolean }) {
  const { t } = useOperatorLanguage();
  return (
    <Button takes="setBookTaxes" type="submit" look="primary" busy={busy}>
      {t.common.save}
    </Button>
  );
}
