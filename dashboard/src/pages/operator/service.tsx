/** The operator's page of the service's settings: the forms are made from the server's one table. */

import type { OperatorSettingsAnswer, Success, TestSettingsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { CopyValue } from '../../components/copy.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, Fold, Folds, Page } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { serviceTexts } from '../../language/service.ts';

type Group = NonNullable<OperatorSettingsAnswer>[number];
type Setting = Group['settings'][number];

const settingsKey = ['operator', 'settings'];

export default function ServiceSettings() {
  const { t, locale } = useOperatorLanguage();
  const texts = serviceTexts[locale];
  const groups = useAsk({
    key: settingsKey,
    ask: (steyg, signal) => steyg.console.operator.operatorSettings({}, { signal }),
    // A test transfer is seen as it arrives.
    every: 5_000,
  });
  return (
    <Page title={t.nav.operatorService} lead={texts.serviceLead}>
      <Loaded query={groups}>
        {(list) => (
          <Folds>
            {list.map((group) => (
              <GroupPart key={group.group} group={group} />
            ))}
          </Folds>
        )}
      </Loaded>
    </Page>
  );
}

/** Providers of a sign-in, by their settings: the last word of the address to which they send people back. */
const redirectedBy: Partial<Record<Group['group'], string>> = { GOOGLE: 'google', GITHUB: 'github', OIDC: 'oidc' };

/** How a group stands: its values that are no secrets, or that it has some. */
function stateOf({ settings }: Group, { settingsSet, settingsUnset }: { settingsSet: string; settingsUnset: string }) {
  const shown = settings
    .filter(({ kind }) => kind === 'TEXT')
    .flatMap((setting) => setting.shown ?? setting.fallback ?? []);
  if (shown.length > 0) return shown.join(' · ');
  return settings.some(({ source }) => source !== 'DEFAULT') ? settingsSet : settingsUnset;
}

function GroupPart({ group }: { group: Group }) {
  const { locale } = useOperatorLanguage();
  const texts = serviceTexts[locale];
  const isSet = group.settings.some(({ source }) => source !== 'DEFAULT');
  const { title, hint } = texts.settingGroups[group.group];
  const provider = redirectedBy[group.group];
  return (
    <Fold title={title} state={stateOf(group, texts)} place={group.group}>
      <p className="hint">{hint}</p>
      {provider === undefined ? null : (
        <CopyValue label={texts.redirectAddress} text={`${location.origin}/sign-in/with/callback/${provider}`} />
      )}
      {group.webhookAddress === null ? null : <CopyValue label={texts.webhookAddress} text={group.webhookAddress} />}
      <LastTransfer group={group} isAwaited={group.webhookAddress !== null || (group.group === 'BANK' && isSet)} />
      <GroupForm key={group.settings.map(({ shown }) => shown).join('\n')} group={group} />
    </Fold>
  );
}

/** The last transfer that was reported, and what was refused since: a test transfer shows here as it arrives, or why not. */
function LastTransfer({ group: { lastTransfer, refusals }, isAwaited }: { group: Group; isAwaited: boolean }) {
  const { t, locale, format } = useOperatorLanguage();
  const texts = serviceTexts[locale];
  if (!isAwaited) return null;
  return (
    <div role="status">
      {refusals.map(({ at, reason }) => (
        <p key={reason}>
          <Badge tone="bad">{texts.webhookRefused}</Badge> {texts.webhookRefusals[reason ?? 'OTHER']} <Moment at={at} />
        </p>
      ))}
      {lastTransfer !== null ? (
        <p>
          <Badge tone="good">{texts.webhookHeard}</Badge> {format.vnd(lastTransfer.amountVnd)} · “{lastTransfer.memo}” ·{' '}
          <Moment at={lastTransfer.createdAt} />
          {lastTransfer.review?.reason == null || lastTransfer.review.closedAt !== null
            ? null
            : ` · ${fill(texts.webhookWaits, { reason: t.operator.reasons[lastTransfer.review.reason] })}`}
        </p>
      ) : refusals.length === 0 ? (
        <p>{texts.webhookSilent}</p>
      ) : null}
    </div>
  );
}

/** What a form sends: a secret that was typed, and whatever else was changed. */
function changesIn(settings: readonly Setting[], draft: Readonly<Record<string, string>>) {
  return settings.flatMap(({ name, kind, shown, source }) => {
    const value = draft[name];
    if (value === undefined || source === 'ENVIRONMENT') return [];
    if (kind === 'SECRET' ? value.trim() === '' : value.trim() === (shown ?? '')) return [];
    return [{ name, value: value.trim() }];
  });
}

/** What a try could neither prove nor disprove. */
const open: ReadonlySet<string> = new Set(['CLIENT_UNPROVED', 'TRANSFER_NEEDED', 'NOT_SET']);

function GroupForm({ group }: { group: Group }) {
  const { t, locale } = useOperatorLanguage();
  const texts = serviceTexts[locale];
  const say = useSay();
  const failure = useFailureToast();
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>({});
  const [tried, setTried] = useState<Success<TestSettingsAnswer> | null>(null);
  const { group: name, settings } = group;
  const values = changesIn(settings, draft);
  const stored = settings.filter(({ source }) => source === 'STORED');
  const save = useChange({
    change: (steyg, changed: { name: string; value: string }[]) =>
      steyg.console.operator.saveSettings({ input: { group: name, values: changed } }),
    refresh: [settingsKey, ['operator', 'setup'], ['shop']],
    done: (_saved, changed) => {
      // The session, and this page's questions, belong to the address that was in force.
      const address = changed.find((value) => value.name === 'PUBLIC_URL')?.value ?? '';
      if (address !== '' && new URL(address).origin !== location.origin)
        location.assign(`${address}${location.pathname}`);
      else say(t.common.saved);
    },
  });
  const test = useChange({
    change: (steyg, changed: { name: string; value: string }[]) =>
      steyg.console.operator.testSettings({ input: { group: name, values: changed } }),
    done: setTried,
  });
  const { fields, rest } = useProblems(
    save.error ?? test.error,
    settings.map((setting) => setting.name),
  );
  const isFixed = settings.every(({ source }) => source === 'ENVIRONMENT');
  return (
    <Form
      label={texts.settingGroups[name].title}
      onSubmit={() => save.mutate(values)}
      error={rest}
      actions={
        <>
          {stored.length === 0 ? null : (
            <Button
              look="danger"
              busy={save.isPending}
              onClick={() =>
                save.mutate(
                  stored.map((setting) => ({ name: setting.name, value: '' })),
                  failure,
                )
              }
            >
              {texts.settingsRemove}
            </Button>
          )}
          {group.hasTest ? (
            <Button busy={test.isPending} onClick={() => test.mutate(values)}>
              {texts.settingsTest}
            </Button>
          ) : null}
          {isFixed ? null : (
            <Button type="submit" look="primary" busy={save.isPending} disabled={values.length === 0}>
              {t.common.save}
            </Button>
          )}
        </>
      }
    >
      <div className="fields">
        {settings.map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            value={draft[setting.name]}
            onChange={(value) => {
              setDraft({ ...draft, [setting.name]: value });
              setTried(null);
            }}
            error={fields[setting.name]}
          />
        ))}
      </div>
      <p role="status">
        {tried === null ? null : (
          <>
            <Badge tone={tried.ok ? 'good' : open.has(tried.finding) ? 'warn' : 'bad'}>
              {tried.ok ? texts.settingsWork : open.has(tried.finding) ? texts.settingsOpen : texts.settingsFail}
            </Badge>{' '}
            {texts.findings[tried.finding]}
            {tried.detail === null ? null : (
              <>
                {' '}
                <code>{tried.detail}</code>
              </>
            )}
          </>
        )}
      </p>
    </Form>
  );
}

function SettingField({
  setting: { name, kind, choices, source, shown, required, fallback },
  value,
  onChange,
  error,
}: {
  setting: Setting;
  value: string | undefined;
  onChange: (value: string) => void;
  error: string | undefined;
}) {
  const { locale } = useOperatorLanguage();
  const texts = serviceTexts[locale];
  const labels: Record<string, string> = texts.settingNames;
  const isFixed = source === 'ENVIRONMENT';
  const label = `${labels[name] ?? name}${required ? '' : ` (${texts.settingOptional})`}`;
  const hint = isFixed ? (
    fill(texts.settingFixed, { name })
  ) : kind === 'SECRET' && shown !== null ? (
    fill(texts.settingKept, { shown })
  ) : (
    <code>{name}</code>
  );
  if (kind === 'CHOICE') {
    return (
      <SelectField
        label={label}
        hint={hint}
        disabled={isFixed}
        value={value ?? shown ?? choices[0] ?? ''}
        onChange={onChange}
        options={choices.map((word) => ({ value: word, label: word }))}
        error={error}
      />
    );
  }
  return (
    <TextField
      label={label}
      hint={hint}
      type={kind === 'SECRET' ? 'password' : 'text'}
      autoComplete="off"
      placeholder={name === 'PUBLIC_URL' ? location.origin : (fallback ?? undefined)}
      disabled={isFixed}
      value={value ?? (kind === 'SECRET' ? '' : (shown ?? ''))}
      onChange={onChange}
      error={error}
    />
  );
}
