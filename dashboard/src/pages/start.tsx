import type { BudgetAnswer } from '@steyg/sdk';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../components/button.tsx';
import { ConnectPanel } from '../components/connect-panel.tsx';
import { TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { type NewKey, Secret, useCreateKey } from '../components/new-key.tsx';
import { Page } from '../components/page.tsx';
import { Banner, Loaded, LoadingSkeleton } from '../components/states.tsx';
import { Step } from '../components/step.tsx';
import { useAsk } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useAccount } from '../session.tsx';

/** The first steps: from a new account to its first request. */
export default function Start() {
  const { t } = useLanguage();
  const [key, setKey] = useState<NewKey | null>(null);
  return (
    <Page title={t.start.title} lead={t.start.lead}>
      <ol className="steps">
        <TrialStep />
        <KeyStep made={key} onMade={setKey} />
        <Step number={3} title={t.start.connect} done={false}>
          <ConnectPanel folded apiKey={key?.secret ?? undefined} />
        </Step>
        <FirstRequestStep keyId={key?.key.id ?? null} />
      </ol>
    </Page>
  );
}

function TrialStep() {
  const { t, format } = useLanguage();
  const { id: accountId } = useAccount();
  const budget = useAsk({
    key: ['budget', accountId],
    ask: (steyg, signal) => steyg.console.ledger.budget({ accountId }, { signal }),
  });
  const stateOf = ({ grants, free }: NonNullable<BudgetAnswer>) => {
    const trial = grants.find(({ kind }) => kind === 'TRIAL');
    return trial?.expiresAt == null
      ? fill(t.start.budgetFree, { free: format.usdTile(free) })
      : fill(t.start.trial, {
          amount: format.usd(trial.amount),
          end: format.dateTime(trial.expiresAt),
          free: format.usdTile(free),
        });
  };
  return (
    <Step number={1} title={t.start.budget} done {...(budget.data == null ? {} : { state: stateOf(budget.data) })}>
      {budget.data == null ? (
        <Loaded query={budget} skeleton={<LoadingSkeleton lines={1} />}>
          {() => null}
        </Loaded>
      ) : null}
    </Step>
  );
}

function KeyStep({ made, onMade }: { made: NewKey | null; onMade: (key: NewKey) => void }) {
  const { t, count } = useLanguage();
  const { id: accountId } = useAccount();
  const [name, setName] = useState('');
  const create = useCreateKey(onMade);
  const keys = useAsk({
    key: ['keys', accountId, 'active'],
    ask: (steyg, signal) => steyg.console.keys.listKeys({ accountId, first: 1, active: true }, { signal }),
  });
  const kept = keys.data?.totalCount ?? 0;
  const form = (
    <Form
      onSubmit={() => create.mutate(name.trim() === '' ? {} : { name: name.trim() })}
      error={create.error}
      actions={
        <Button type="submit" look={kept > 0 ? 'plain' : 'primary'} busy={create.isPending}>
          {t.keys.create}
        </Button>
      }
    >
      <TextField label={t.keys.name} hint={t.keys.nameHint} maxLength={100} value={name} onChange={setName} />
    </Form>
  );
  return (
    <Step
      number={2}
      title={t.start.key}
      done={made !== null || kept > 0}
      {...(made === null && kept > 0 ? { state: count(t.start.kept, kept) } : {})}
    >
      {made?.secret == null && kept > 0 ? (
        <details>
          <summary>{t.start.another}</summary>
          <p className="hint">{t.start.keptText}</p>
          {form}
        </details>
      ) : made?.secret == null ? (
        form
      ) : (
        <>
          <Banner tone="warn">{fill(t.common.shownOnce, { what: t.keys.secret })}</Banner>
          <Secret secret={made.secret} what={t.keys.secret} />
        </>
      )}
    </Step>
  );
}

/** Polls frequently while the page waits; the ledger has the request a moment after its answer. */
const lookEveryMs = 2_000;

function FirstRequestStep({ keyId }: { keyId: string | null }) {
  const { t, format } = useLanguage();
  const { id: accountId } = useAccount();
  const [arrived, setArrived] = useState(false);
  const entries = useAsk({
    key: ['first-request', accountId, keyId],
    ask: (steyg, signal) =>
      steyg.console.ledger.listEntries({ accountId, first: 1, filter: keyId === null ? null : { keyId } }, { signal }),
    every: arrived ? 60_000 : lookEveryMs,
  });
  const entry = entries.data?.edges[0]?.node;
  useEffect(() => setArrived(entry !== undefined), [entry]);
  return (
    <Step number={4} title={t.start.first} done={entry !== undefined}>
      <div role="status">
        {entry === undefined ? (
          <p className="waiting-line">
            <span className="pulse" aria-hidden="true" />
            {keyId === null ? t.start.waitingAny : t.start.waiting}
          </p>
        ) : (
          <Banner tone="good" icon="check">
            <p>
              {fill(t.start.arrived, {
                model: entry.model,
                time: format.time(entry.createdAt),
                cost: format.usd(entry.charged),
                latency: format.milliseconds(entry.latencyMs),
              })}
            </p>
          </Banner>
        )}
      </div>
      {entry === undefined ? null : (
        <div className="actions">
          <Link className="button primary" href={pages.home}>
            {t.start.finish}
          </Link>
        </div>
      )}
    </Step>
  );
}
