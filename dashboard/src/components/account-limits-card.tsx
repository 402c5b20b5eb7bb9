/** The limits that an account sets itself over all its keys. */

import type { AccountLimitsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { useAbilities, useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { LIMIT_INPUTS, LimitFields, limitDraft, typedLimits, useLimitTexts } from './limit-fields.tsx';
import { Card } from './page.tsx';
import { Loaded } from './states.tsx';
import { useSay } from './toasts.tsx';

type AccountLimits = NonNullable<AccountLimitsAnswer>;

export function AccountLimitsCard() {
  const texts = useLimitTexts();
  const { id: accountId } = useAccount();
  const limits = useAsk({
    key: ['account-limits', accountId],
    ask: (steyg, signal) => steyg.console.accounts.accountLimits({ id: accountId }, { signal }),
  });
  return (
    <Card title={texts.account}>
      <p>{texts.accountText}</p>
      <Loaded query={limits}>
        {(found) => (found === null ? null : <LimitsForm key={accountId} limits={found} />)}
      </Loaded>
    </Card>
  );
}

function LimitsForm({ limits }: { limits: AccountLimits }) {
  const { t, format } = useLanguage();
  const texts = useLimitTexts();
  const say = useSay();
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const [draft, setDraft] = useState(() => ({ ...limitDraft({ ...limits, burnLimit: null }), burn: null }));
  const [timeZone, setTimeZone] = useState(limits.timeZone);
  const save = useChange({
    change: (steyg, input: NonNullable<ReturnType<typeof typedLimits>>) => {
      const { burnLimit: _none, addresses, ...rest } = input;
      return steyg.console.accounts.setAccountLimits({
        input: { accountId, ...rest, addresses: [...addresses], timeZone: timeZone.trim() },
      });
    },
    refresh: [['account-limits', accountId]],
    done: () => say(t.common.saved),
  });
  const { fields, rest } = useProblems(save.error, [...LIMIT_INPUTS, 'timeZone']);
  const { spent } = limits;
  return (
    <Form
      onSubmit={() => {
        const usable = typedLimits(draft);
        if (usable !== null) save.mutate(usable);
      }}
      error={rest}
      actions={
        <Button type="submit" look="primary" busy={save.isPending} disabled={!billing}>
          {t.common.save}
        </Button>
      }
    >
      {spent === null ? null : (
        <p className="note">
          {fill(texts.spent, {
            today: format.usd(spent.today),
            week: format.usd(spent.thisWeek),
            month: format.usd(spent.thisMonth),
          })}
        </p>
      )}
      <LimitFields
        draft={draft}
        onChange={(next) => setDraft({ ...next, burn: null })}
        fields={fields}
        disabled={!billing}
      />
      <TextField
        label={texts.timeZone}
        hint={texts.timeZoneHint}
        disabled={!billing}
        value={timeZone}
        onChange={setTimeZone}
        error={fields['timeZone']}
      />
    </Form>
  );
}
