/** The settings page: profile, address, limits, company. */

import { useState } from 'react';
import { Link } from 'wouter';
import { viewerKey } from '../answers.ts';
import { AccountLimitsCard } from '../components/account-limits-card.tsx';
import { AttributionCard } from '../components/attribution-card.tsx';
import { Button } from '../components/button.tsx';
import { CompanyCard } from '../components/company-card.tsx';
import { TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Icon } from '../components/icon.tsx';
import { Looks } from '../components/looks.tsx';
import { OwnData } from '../components/own-data.tsx';
import { Card, Fold, Folds, Page } from '../components/page.tsx';
import { Banner } from '../components/states.tsx';
import { useSay } from '../components/toasts.tsx';
import { useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useSession } from '../session.tsx';
import { Preferences } from '../shell.tsx';

export default function Settings() {
  const { t } = useLanguage();
  const { account } = useSession();
  return (
    <Page title={t.settings.title}>
      <div className="columns even">
        <Profile />
        <Card title={t.settings.look}>
          <Preferences />
          <p className="hint">{t.settings.languageHint}</p>
        </Card>
      </div>
      <Folds>
        <Email />
        {account === null ? null : (
          <>
            <AccountLimitsCard />
            <CompanyCard />
            <AttributionCard />
            <Alerts />
            <OwnData />
            <Looks />
          </>
        )}
      </Folds>
    </Page>
  );
}

/** Alerts have their own page. */
function Alerts() {
  const { t } = useLanguage();
  return (
    <Link href={pages.notices} className="fold elsewhere">
      <h2>{t.notices.settings}</h2>
      <span className="fold-state">{t.notices.settingsText}</span>
      <Icon name="next" />
    </Link>
  );
}

function Profile() {
  const { t } = useLanguage();
  const say = useSay();
  const { person } = useSession();
  const [name, setName] = useState(person.name);
  const save = useChange({
    change: (steyg, input: string) => steyg.console.people.updateProfile({ name: input }),
    refresh: [viewerKey, ['members']],
    done: () => say(t.common.saved),
  });
  const { fields, rest } = useProblems(save.error, ['name']);
  return (
    <Card title={t.settings.profile}>
      <Form
        onSubmit={() => save.mutate(name.trim())}
        error={rest}
        actions={
          <Button type="submit" look="primary" busy={save.isPending}>
            {t.common.save}
          </Button>
        }
      >
        <TextField
          label={t.signUp.name}
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={setName}
          error={fields['name']}
        />
      </Form>
    </Card>
  );
}

function Email() {
  const { t } = useLanguage();
  const { person } = useSession();
  const [newEmail, setNewEmail] = useState('');
  const [password, setPassword] = useState('');
  const change = useChange({
    change: (steyg, input: { newEmail: string; password: string }) => steyg.console.people.changeEmail(input),
    done: () => setPassword(''),
  });
  const { fields, rest } = useProblems(change.error, ['newEmail', 'password']);
  return (
    <Fold title={t.settings.email} state={person.email}>
      <p>{fill(t.settings.emailNow, { email: person.email })}</p>
      {change.isSuccess ? (
        <Banner tone="good" icon="check">
          {fill(t.settings.emailSent, { email: person.email })}
        </Banner>
      ) : null}
      <Form
        onSubmit={() => change.mutate({ newEmail: newEmail.trim(), password })}
        error={rest}
        actions={
          <Button type="submit" look="primary" busy={change.isPending}>
            {t.settings.changeEmail}
          </Button>
        }
      >
        <TextField
          label={t.settings.newEmail}
          type="email"
          required
          value={newEmail}
          onChange={setNewEmail}
          error={fields['newEmail']}
        />
        <TextField
          label={t.security.passwordAgain}
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
          error={fields['password']}
        />
      </Form>
    </Fold>
  );
}
