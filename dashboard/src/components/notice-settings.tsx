import type { NoticeSettingsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { useAsk, useChange } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { isUsd } from '../money.ts';
import { useAbilities, useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { Checkbox, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Card } from './page.tsx';
import { Loaded } from './states.tsx';
import { useSay } from './toasts.tsx';

/** When the account is told that budget runs out. */
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
  const { t } = useLanguage();
  const say = useSay();
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const [lowBalance, setLowBalance] = useState(settings.lowBalance);
  const [mail, setMail] = useState(settings.mail);
  const save = useChange({
    change: (steyg, input: { lowBalance: string; mail: boolean }) =>
      steyg.console.accounts.updateNoticeSettings({ input: { ...input, accountId } }),
    refresh: [['notice-settings', accountId]],
    done: () => say(t.common.saved),
  });
  return (
    <Form
      onSubmit={() => {
        if (isUsd(lowBalance)) save.mutate({ lowBalance: lowBalance.trim(), mail });
      }}
      error={save.error}
      actions={
        <Button type="submit" look="primary" busy={save.isPending} disabled={!billing}>
          {t.common.save}
        </Button>
      }
    >
      <TextField
        label={t.notices.low}
        hint={t.notices.lowHint}
        inputMode="decimal"
        disabled={!billing}
        value={lowBalance}
        onChange={setLowBalance}
        error={isUsd(lowBalance) ? undefined : t.problems.usd}
      />
      <Checkbox label={t.notices.mail} checked={mail} disabled={!billing} onChange={setMail} />
    </Form>
  );
}
