/** The sign-up page. */

import type { Language } from '@steyg/sdk';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { NewPasswordField } from '../components/new-password.tsx';
import { Page } from '../components/page.tsx';
import { FailureNotice } from '../components/states.tsx';
import { useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages, signInFor } from '../pages.ts';
import { useForget } from '../session.tsx';
import { openVerificationChannel } from '../verification.ts';

interface Credentials {
  email: string;
  password: string;
}

export default function SignUp() {
  const { t, locale } = useLanguage();
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [sent, setSent] = useState<Credentials | null>(null);
  const signUp = useChange({
    change: (steyg, input: Credentials & { name: string; language: Language }) =>
      steyg.console.people.signUp({ input }),
    done: (_result, input) => setSent({ email: input.email, password: input.password }),
  });
  if (sent !== null) return <CheckMail credentials={sent} onBack={() => setSent(null)} />;
  const { fields, rest } = useProblems(signUp.error, ['name', 'email', 'password']);
  return (
    <div className="narrow">
      <Page title={t.signUp.title} lead={t.signUp.lead}>
        <Form
          onSubmit={() =>
            signUp.mutate({ name: name.trim(), email: email.trim(), password, language: locale === 'vi' ? 'VI' : 'EN' })
          }
          error={rest}
          actions={
            <Button type="submit" look="primary" busy={signUp.isPending}>
              {t.signUp.action}
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
          <TextField
            label={t.signIn.email}
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={setEmail}
            error={fields['email']}
          />
          <NewPasswordField
            label={t.signIn.password}
            value={password}
            onChange={setPassword}
            error={fields['password']}
          />
        </Form>
        <p className="aside">
          <span>
            {t.signUp.hasAccount} <Link href={pages.signIn}>{t.nav.signIn}</Link>
          </span>
        </p>
      </Page>
    </div>
  );
}

/** Waits for the link of the mail to be opened, here or elsewhere, and continues automatically where it can. */
function CheckMail({ credentials, onBack }: { credentials: Credentials; onBack: () => void }) {
  const { t } = useLanguage();
  const [, go] = useLocation();
  const forget = useForget();
  const channel = useRef<ReturnType<typeof openVerificationChannel>>(null);
  const { mutate: enter, ...signIn } = useChange({
    change: (steyg, input: Credentials) => steyg.console.people.signIn(input),
    done: ({ secondFactorRequired }) => {
      channel.current?.post('signed-in');
      // For a signed-in person, this address redirects to the first steps.
      if (secondFactorRequired) go(signInFor(pages.start));
      else void forget();
    },
  });
  const resend = useChange({ change: (steyg, email: string) => steyg.console.people.resendVerification({ email }) });
  useEffect(() => {
    const opened = openVerificationChannel((message) => {
      if (message === 'confirmed') enter(credentials);
    });
    channel.current = opened;
    return () => opened.close();
  }, [enter, credentials]);
  return (
    <div className="narrow">
      <Page title={t.signUp.mailTitle} lead={fill(t.signUp.mailText, { email: credentials.email })}>
        <p>{t.signUp.mailHint}</p>
        {signIn.error === null ? null : <FailureNotice error={signIn.error} />}
        {resend.error === null ? null : <FailureNotice error={resend.error} />}
        <div className="actions">
          <Button look="quiet" onClick={onBack}>
            {t.common.back}
          </Button>
          <Button busy={resend.isPending} onClick={() => resend.mutate(credentials.email)}>
            {resend.isSuccess ? t.signUp.resent : t.signUp.resend}
          </Button>
          <Button look="primary" busy={signIn.isPending} onClick={() => enter(credentials)}>
            {t.signUp.confirmed}
          </Button>
        </div>
      </Page>
    </div>
  );
}
