/** When and of what an account is told. */

import type { NoticeKind, NoticeSettingsAnswer, NoticeSettingsInput } from '@steyg/sdk';
import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { isUsd, parseUsd } from '../money.ts';
import { useAbilities, useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { Checkbox, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { accountKinds, MutedKinds } from './notice-channels.tsx';
import { Card, Fold } from './page.tsx';
import { draftOf, QUIET_INPUTS, QuietFields, quietOf } from './quiet-fields.tsx';
import { Loaded } from './states.tsx';
import { useSay } from './toasts.tsx';
import { AboutVnd } from './usd.tsx';

export function NoticeSettingsCard() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const settings = useAsk({
    key: ['notice-settings', accountId],
    ask: (steyg, signal) => steyg.console.accounts.noticeSettings({ accountId }, { signal }),
  });
  return (
    <Card title={t.notices.settings}>
      <Loaded query={settings}>{(found) => <SettingsForm key={accountId} settings={found} />}</Loaded>
    </Card>
  );
}

function SettingsForm({ settings }: { settings: NonNullable<NoticeSettingsAnswer> }) {
  const { t, format } = useLanguage();
  const say = useSay();
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const [lowBalance, setLowBalance] = useState(settings.lowBalance);
  const [mail, setMail] = useState(settings.mail);
  const [burnAmount, setBurnAmount] = useState(settings.burnAmount);
  const [burnMinutes, setBurnMinutes] = useState(String(settings.burnMinutes));
  const [keyPercent, setKeyPercent] = useState(String(settings.keyPercent));
  const [muted, setMuted] = useState<NoticeKind[]>([...settings.muted]);
  const [quiet, setQuiet] = useState(draftOf(settings));
  const save = useChange({
    change: (steyg, input: NoticeSettingsInput) => steyg.console.accounts.updateNoticeSettings({ input }),
    refresh: [['notice-settings', accountId]],
    done: () => say(t.common.saved),
  });
  const { fields, rest } = useProblems(save.error, [...QUIET_INPUTS, 'burnMinutes', 'keyPercent']);
  return (
    <Form
      onSubmit={() => {
        if (!isUsd(lowBalance) || !isUsd(burnAmount)) return;
        save.mutate({
          accountId,
          lowBalance: lowBalance.trim(),
          mail,
          burnAmount: burnAmount.trim(),
          burnMinutes: Number(burnMinutes),
          keyPercent: Number(keyPercent),
          muted,
          ...quietOf(quiet),
        });
      }}
      error={rest}
      actions={
        <Button type="submit" look="primary" busy={save.isPending} disabled={!billing}>
          {t.common.save}
        </Button>
      }
    >
      <TextField
        label={t.notices.low}
        hint={
          <>
            {t.notices.lowHint} <AboutVnd usd={lowBalance} />
          </>
        }
        inputMode="decimal"
        disabled={!billing}
        value={lowBalance}
        onChange={setLowBalance}
        error={isUsd(lowBalance) ? undefined : t.problems.usd}
      />
      <Checkbox label={t.notices.mail} checked={mail} disabled={!billing} onChange={setMail} />
      <Fold
        inForm
        title={t.notices.burnTitle}
        state={
          !isUsd(burnAmount) || parseUsd(burnAmount) === 0n
            ? t.notices.off
            : fill(t.notices.burnState, { usd: format.usd(burnAmount), n: burnMinutes })
        }
      >
        <TextField
          label={t.notices.burn}
          hint={
            <>
              {t.notices.burnHint} <AboutVnd usd={burnAmount} />
            </>
          }
          inputMode="decimal"
          disabled={!billing}
          value={burnAmount}
          onChange={setBurnAmount}
          error={isUsd(burnAmount) ? undefined : t.problems.usd}
        />
        <TextField
          label={t.notices.burnMinutes}
          type="number"
          min={1}
          max={1440}
          required
          disabled={!billing}
          value={burnMinutes}
          onChange={setBurnMinutes}
          error={fields['burnMinutes']}
        />
      </Fold>
      <Fold
        inForm
        title={t.notices.limitsTitle}
        state={Number(keyPercent) > 0 ? fill(t.notices.limitsState, { n: keyPercent }) : t.notices.off}
      >
        <TextField
          label={t.notices.keyPercent}
          hint={t.notices.keyPercentHint}
          type="number"
          min={0}
          max={100}
          required
          disabled={!billing}
          value={keyPercent}
          onChange={setKeyPercent}
          error={fields['keyPercent']}
        />
      </Fold>
      <QuietFields draft={quiet} disabled={!billing} onChange={setQuiet} errors={fields} />
      <MutedKinds kinds={accountKinds} muted={muted} onChange={setMuted} />
    </Form>
  );
}
