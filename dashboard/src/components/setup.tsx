/** What the service needs before customers can pay for it, and where to do it. */

import type { SetupAnswer } from '@steyg/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAsk } from '../data.tsx';
import { fill, useOperatorLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { Icon } from './icon.tsx';
import { Card } from './page.tsx';
import { SetUpSecondFactor } from './set-up-second-factor.tsx';
import { Step } from './step.tsx';

type Item = NonNullable<SetupAnswer>[number];

export function useSetup() {
  return useAsk({
    key: ['operator', 'setup'],
    ask: (steyg, signal) => steyg.console.operator.setup({}, { signal }),
  });
}

/**
 * The steps that are missing before customers can pay, with the place of each, and in one line those that are done; nothing once
 * all are.
 */
export function Setup({ items }: { items: readonly Item[] }) {
  const { t, count, format } = useOperatorLanguage();
  const done = items.filter((item) => item.done).map(({ step }) => t.operator.setupSteps[step].title);
  const missing = items.filter(({ done }) => !done).length;
  if (missing === 0) return null;
  return (
    <Card title={t.operator.setup}>
      <p>
        {t.operator.setupLead} {count(t.operator.setupMissing, missing)}
      </p>
      <ol className="steps">
        {items.map((item, index) =>
          item.done ? null : <SetupStep key={item.step} step={item.step} number={index + 1} />,
        )}
      </ol>
      {done.length === 0 ? null : (
        <p className="steps-done">
          <Icon name="check" />
          {fill(t.operator.setupDone, { steps: format.list(done) })}
        </p>
      )}
    </Card>
  );
}

/** The pages where steps are done; the others are done in the server's environment, which their texts name. */
const places = {
  VENDOR: pages.operatorVendors,
  PLAN: pages.operatorPlans,
  SELLER: pages.operatorSeller,
  BANK_ACCOUNT: `${pages.operatorService}#BANK`,
  BANK_WEBHOOK: `${pages.operatorService}#SEPAY`,
  SMTP: `${pages.operatorService}#MAIL`,
} as const;

function hasPlace(step: Item['step']): step is keyof typeof places {
  return Object.hasOwn(places, step);
}

function SetupStep({ step, number }: { step: Item['step']; number: number }) {
  const { t } = useOperatorLanguage();
  const { title, text } = t.operator.setupSteps[step];
  return (
    <Step number={number} title={title} done={false}>
      <p>{marked(fill(text, { origin: globalThis.location.origin }))}</p>
      {step !== 'SECOND_FACTOR' ? null : (
        <p>
          <SetUpSecondFactor primary />
        </p>
      )}
      {!hasPlace(step) ? null : (
        <p>
          <Link href={places[step]} className="button primary small">
            {t.operator.setupActions[step]}
          </Link>
        </p>
      )}
    </Step>
  );
}

/** Names in backticks, such as those of variables, as code. */
function marked(text: string): ReactNode {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
