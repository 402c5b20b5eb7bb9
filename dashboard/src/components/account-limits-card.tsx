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
import { LIMIT_INPUTS, LimitFields, limitDraft, typedLimits, useLimitLines, useLimitTexts } from './limit-fields.tsx';
import { Fold } from './page.tsx';
import { Loaded } from './states.tsx';
import { useSay } from './toasts.tsx';

type AccountLimits = NonNullable<AccountLimitsAnswer>;

/** For the account's own people. */
export function AccountLimitsCard() {
  const texts = useLimitTexts();
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const { t, format } = useLanguage();
  const lines = useLimitLines();
  const stateOf = (found: AccountLimits) => {
    const set = lines({ ...found, burnLimit: null });
    return set.length === 0 ? t.notices.unset : format.list(set);
  };
  const limits = useAsk({
    key: ['account-limits', accountId],
    ask: (steyg, signal) => steyg.console.accounts.accountLimits({ id: accountId }, { signal }),
  });
  return (
    <Fold title={texts.account} state={limits.data == null ? undefined : stateOf(limits.data)}>
      <p className="hint">{texts.accountText}</p>
      <Loaded query={limits}>
        {(found) =>
          found === null ? null : (
            <AccountLimitsForm key={accountId} accountId={accountId} limits={found} mayChange={billing} />
          )
        }
      </Loaded>
    </Fold>
  );
}

export function AccountLimitsForm({
  accountId,
  limits,
  mayChange,
}: {
  accountId: string;
  limits: AccountLimits;
  mayChange: boolean;
}) {
  const { t, format } = useLanguage();
  const texts = useLimitTexts();
  const say = useSay();
  const [draft, setDraft] = useState(() => ({ ...limitDraft({ ...limits, burnLimit: null }), burn: null }));
  const [timeZone, setTimeZone] = useState(limits.timeZone);
  const save = useChange({
    change: (steyg, input: NonNullable<ReturnType<typeof typedLimits>>) => {
      const { burnLimit: _none, addresses, ...rest } = input;
      return steyg.console.accounts.setAccountLimits({
        input: { accountId, ...rest, addresses: [...addresses], timeZone: timeZone.trim() },
      });
    },
    refresh: [
      ['account-limits', accountId],
      ['operator', 'account-limits', accountId],
    ],
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
        <Button type="submit" look="primary" busy={save.isPending} disabled={!mayChange}>
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
        disabled={!mayChange}
      />
      <TextField
        label={texts.timeZone}
        hint={texts.timeZoneHint}
        disabled={!mayChange}
        value={timeZone}
        onChange={setTimeZone}
        error={fields['timeZone']}
      />
    </Form>
  );
}
