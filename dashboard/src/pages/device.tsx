/** The page on which a person gives a machine a key, or denies it (`steyg login`). */

import { type MachineLoginAnswer, orThrow, ResultError, type Success } from '@steyg/sdk';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { Button } from '../components/button.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { useSpendingTexts } from '../components/spending-texts.ts';
import { Banner, FailureNotice, LoadingSkeleton } from '../components/states.tsx';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { useLanguage } from '../language/language.tsx';
import { limitTexts } from '../language/limits.ts';
import { machineTexts } from '../language/machine.ts';
import { isUsd } from '../money.ts';
import { useAccount, useSession } from '../session.tsx';

const useMachineTexts = () => machineTexts[useLanguage().locale];

export default function Device() {
  const texts = useMachineTexts();
  const [search, setSearch] = useSearchParams();
  const code = search.get('code') ?? '';
  return (
    <div className="narrow">
      <Page title={texts.title} lead={texts.lead}>
        {code.trim() === '' ? (
          <CodeForm onCode={(typed) => setSearch({ code: typed })} />
        ) : (
          <Asked key={code} code={code} onAnother={() => setSearch({})} />
        )}
      </Page>
    </div>
  );
}

function CodeForm({ onCode }: { onCode: (code: string) => void }) {
  const texts = useMachineTexts();
  const [code, setCode] = useState('');
  return (
    <Form
      onSubmit={() => {
        if (code.trim() !== '') onCode(code.trim());
      }}
      actions={
        <Button look="primary" type="submit">
          {texts.find}
        </Button>
      }
    >
      <TextField
        label={texts.code}
        hint={texts.codeHint}
        value={code}
        onChange={setCode}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        maxLength={20}
      />
    </Form>
  );
}

type Waiting = Success<MachineLoginAnswer>;

function Asked({ code, onAnother }: { code: string; onAnother: () => void }) {
  const texts = useMachineTexts();
  const [decided, setDecided] = useState<'approved' | 'denied' | null>(null);
  const waiting = useAsk({
    key: ['machine-login', code],
    ask: async (steyg, signal) => orThrow(await steyg.console.machines.machineLogin({ code }, { signal })),
    // A code that is used up is no longer found.
    when: decided === null,
  });
  if (decided !== null)
    return (
      <Banner tone={decided === 'approved' ? 'good' : 'warn'} {...(decided === 'approved' ? { icon: 'check' } : {})}>
        {texts[decided]}
      </Banner>
    );
  if (waiting.data !== undefined) return <Decision code={code} waiting={waiting.data} onDecided={setDecided} />;
  if (waiting.error === null) return <LoadingSkeleton lines={5} />;
  const isGone = waiting.error instanceof ResultError && waiting.error.code === 'NOT_FOUND';
  return (
    <>
      {isGone ? <Banner tone="warn">{texts.notWaiting}</Banner> : <FailureNotice error={waiting.error} />}
      <div className="actions">
        <Button onClick={onAnother}>{texts.another}</Button>
      </div>
    </>
  );
}

/** As the terminal shows it, however it was typed. */
const asShown = (code: string): string =>
  code
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, '')
    .replace(/^(.{4})/, '$1-');

const usualLimit = '20';
const shownPeriods = ['month', 'lifetime'] as const;

function Decision({
  code,
  waiting,
  onDecided,
}: {
  code: string;
  waiting: Waiting;
  onDecided: (how: 'approved' | 'denied') => void;
}) {
  const texts = useMachineTexts();
  const { t, format, locale } = useLanguage();
  const [name, setName] = useState(waiting.machine);
  const [limits, setLimits] = useState({ month: usualLimit, lifetime: '' });
  const [projectId, setProjectId] = useState('');
  const { accounts, chooseAccount } = useSession();
  const { id: accountId, name: accountName } = useAccount();
  const spending = useSpendingTexts();
  const projects = useAsk({
    key: ['projects', accountId, false],
    ask: (steyg, signal) => steyg.console.keys.listProjects({ accountId, archived: false }, { signal }),
  });
  const approve = useChange({
    change: (steyg, input: { limits: Record<(typeof shownPeriods)[number], string | null> }) =>
      steyg.console.machines.approveMachineLogin({
        input: { code, accountId, name, limits: input.limits, ...(projectId === '' ? {} : { projectId }) },
      }),
    refresh: [['keys', accountId]],
    done: () => onDecided('approved'),
  });
  const deny = useChange({
    change: (steyg, asked: string) => steyg.console.machines.denyMachineLogin({ code: asked }),
    refresh: [],
    done: () => onDecided('denied'),
  });
  const { fields, rest } = useProblems(approve.error, ['name']);
  const problemOf = (text: string) => (text.trim() === '' || isUsd(text) ? undefined : t.problems.usd);
  const send = () => {
    if (shownPeriods.some((period) => problemOf(limits[period]) !== undefined)) return;
    const amount = (text: string) => (text.trim() === '' ? null : text.trim());
    approve.mutate({ limits: { month: amount(limits.month), lifetime: amount(limits.lifetime) } });
  };
  const list = projects.data ?? [];
  return (
    <>
      <p className="machine-code">{asShown(code)}</p>
      <Banner tone="warn">{texts.warning}</Banner>
      <dl className="sums">
        <div>
          <dt>{texts.machine}</dt>
          <dd>{waiting.machine}</dd>
        </div>
        <div>
          <dt>{texts.address}</dt>
          <dd>{waiting.ipAddress}</dd>
        </div>
        <div>
          <dt>{texts.endsAt}</dt>
          <dd>{format.time(waiting.expiresAt)}</dd>
        </div>
        {accounts.length > 1 ? null : (
          <div>
            <dt>{texts.account}</dt>
            <dd>{accountName}</dd>
          </div>
        )}
      </dl>
      {waiting.sameNetwork ? null : <Banner tone="warn">{texts.otherNetwork}</Banner>}
      <Form
        onSubmit={send}
        error={rest ?? deny.error}
        actions={
          <>
            <Button look="primary" type="submit" busy={approve.isPending}>
              {texts.approve}
            </Button>
            <Button busy={deny.isPending} onClick={() => deny.mutate(code)}>
              {texts.deny}
            </Button>
          </>
        }
      >
        {accounts.length < 2 ? null : (
          <SelectField
            label={texts.account}
            value={accountId}
            onChange={chooseAccount}
            options={accounts.map((each) => ({ value: each.id, label: each.name }))}
          />
        )}
        {list.length === 0 ? null : (
          <SelectField
            label={spending.project}
            hint={spending.projectHint}
            value={projectId}
            onChange={setProjectId}
            options={[
              { value: '', label: spending.noProject },
              ...list.map((each) => ({ value: each.id, label: each.name })),
            ]}
          />
        )}
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          value={name}
          onChange={setName}
          required
          error={fields['name']}
        />
        <fieldset className="group">
          <legend>{texts.limits}</legend>
          <p className="hint">{texts.limitsHint}</p>
          <div className="fields">
            {shownPeriods.map((period) => (
              <TextField
                key={period}
                label={limitTexts[locale].periods[period]}
                inputMode="decimal"
                placeholder={t.keys.noLimit}
                value={limits[period]}
                onChange={(value) => setLimits({ ...limits, [period]: value })}
                error={problemOf(limits[period])}
              />
            ))}
          </div>
        </fieldset>
      </Form>
    </>
  );
}
