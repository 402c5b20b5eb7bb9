/** The operator's page of alerts about the business: what is told, where, and what was. */

import type { BusinessNoticeSettingsAnswer, BusinessNoticeSettingsInput, NoticeKind } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Checkbox, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { businessKinds, MutedKinds, NoticeChannels } from '../../components/notice-channels.tsx';
import { NoticeItem } from '../../components/notice-item.tsx';
import { Card, Folds, Page } from '../../components/page.tsx';
import { draftOf, QUIET_INPUTS, QuietFields, quietOf } from '../../components/quiet-fields.tsx';
import { Empty, Loaded, More } from '../../components/states.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange, usePages } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { useOperatorLanguage } from '../../language/language.tsx';
import { isUsd } from '../../money.ts';

export default function OperatorNotices() {
  const { t } = useOperatorLanguage();
  const settings = useAsk({
    key: ['business-notice-settings'],
    ask: (steyg, signal) => steyg.console.operator.businessNoticeSettings({}, { signal }),
  });
  const notices = usePages({
    key: ['business-notices'],
    ask: (steyg, after, signal) => steyg.console.operator.listBusinessNotices({ after, first: 50 }, { signal }),
    every: 30_000,
  });
  return (
    <Page title={t.nav.notices} lead={t.operator.noticesLead}>
      <div className="columns">
        <Card title={t.notices.settings}>
          <Loaded query={settings}>{(found) => <SettingsForm settings={found} />}</Loaded>
        </Card>
        <Card title={t.notices.told}>
          <Loaded query={notices}>
            {(list) =>
              list.length === 0 ? (
                <Empty title={t.notices.none} />
              ) : (
                <ul className="notices">
                  {list.map((notice) => (
                    <NoticeItem key={notice.id} notice={notice} />
                  ))}
                </ul>
              )
            }
          </Loaded>
          <More query={notices} />
        </Card>
      </div>
      <Folds>
        <NoticeChannels owner={null} mayChange />
      </Folds>
    </Page>
  );
}

function SettingsForm({ settings }: { settings: NonNullable<BusinessNoticeSettingsAnswer> }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [mail, setMail] = useState(settings.mail);
  const [shortfall, setShortfall] = useState(settings.shortfall);
  const [margin, setMargin] = useState(settings.marginPercent === null ? '' : String(settings.marginPercent));
  const [billPercent, setBillPercent] = useState(String(settings.billPercent));
  const [billDays, setBillDays] = useState(String(settings.billDays));
  const [muted, setMuted] = useState<NoticeKind[]>([...settings.muted]);
  const [quiet, setQuiet] = useState(draftOf(settings));
  const save = useChange({
    change: (steyg, input: BusinessNoticeSettingsInput) =>
      steyg.console.operator.updateBusinessNoticeSettings({ input }),
    refresh: [['business-notice-settings']],
    done: () => say(t.common.saved),
  });
  const { fields, rest } = useProblems(save.error, [
    ...QUIET_INPUTS,
    'shortfall',
    'marginPercent',
    'billPercent',
    'billDays',
  ]);
  return (
    <Form
      onSubmit={() =>
        save.mutate({
          mail,
          muted,
          shortfall: shortfall.trim(),
          marginPercent: margin.trim() === '' ? null : Number(margin),
          billPercent: Number(billPercent),
          billDays: Number(billDays),
          ...quietOf(quiet),
        })
      }
      error={rest}
      actions={
        <Button type="submit" look="primary" busy={save.isPending} disabled={!isUsd(shortfall)}>
          {t.common.save}
        </Button>
      }
    >
      <Checkbox label={t.notices.mail} checked={mail} onChange={setMail} />
      <TextField
        label={t.operator.shortfallAbove}
        inputMode="decimal"
        value={shortfall}
        onChange={setShortfall}
        error={isUsd(shortfall) ? fields['shortfall'] : t.problems.usd}
      />
      <TextField
        label={t.operator.marginBelow}
        hint={t.operator.marginBelowHint}
        inputMode="numeric"
        value={margin}
        onChange={setMargin}
        error={fields['marginPercent']}
      />
      <TextField
        label={t.operator.billPercent}
        inputMode="numeric"
        value={billPercent}
        onChange={setBillPercent}
        error={fields['billPercent']}
      />
      <TextField
        label={t.operator.billDays}
        hint={t.operator.billDaysHint}
        inputMode="numeric"
        value={billDays}
        onChange={setBillDays}
        error={fields['billDays']}
      />
      <QuietFields draft={quiet} disabled={false} onChange={setQuiet} errors={fields} />
      <MutedKinds kinds={businessKinds} muted={muted} onChange={setMuted} />
    </Form>
  );
}
