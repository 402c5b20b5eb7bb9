/** The sign-in page with its second step. */

import { isFailure } from '@steyg/sdk';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { Button } from '../components/button.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { Banner } from '../components/states.tsx';
import { useAsk, useChange, useSteyg } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { nextPage, pages } from '../pages.ts';
import { useForget } from '../session.tsx';

export default function SignIn() {
  const { t } = useLanguage();
  const [search] = useSearchParams();
  const forget = useForget();
  const [email, setEmail] = useState(search.get('email') ?? '');
  const [needsCode, setNeedsCode] = useState(search.get('code') === '1');
  // The password step expires: a late code finds no challenge.
  const [isOver, setIsOver] = useState(false);
  // For a signed-in person, this address redirects to the requested page.
  const enter = () => void forget();
  return (
    <div className="narrow">
      <Page title={needsCode ? t.signIn.codeTitle : t.signIn.title}>
        {needsCode ? (
          <CodeForm
            onDone={enter}
            onBack={() => setNeedsCode(false)}
            onOver={() => {
              setIsOver(true);
              setNeedsCode(false);
            }}
          />
        ) : (
          <Ways
            email={email}
            onEmail={setEmail}
            isOver={isOver}
            onDone={({ secondFactorRequired }) => (secondFactorRequired ? setNeedsCode(true) : enter())}
            failed={search.get('error')}
            next={nextPage(globalThis.location.search)}
          />
        )}
      </Page>
    </div>
  );
}

/** Providers, and the password where it is allowed. */
function Ways({ failed, next, ...form }: PasswordFormProps & { failed: string | null; next: string }) {
  const { t } = useLanguage();
  const methods = useAsk({
    key: ['sign-in-methods'],
    ask: (steyg, signal) => steyg.console.people.signInMethods({}, { signal }),
  });
  const { passwords = true, providers = [] } = methods.data ?? {};
  return (
    <>
      {failed === null ? null : (
        <Banner tone="warn">{failed === 'account_not_linked' ? t.signIn.notLinked : t.signIn.providerFailed}</Banner>
      )}
      {providers.length === 0 ? null : (
        <div className="actions">
          {providers.map(({ id, name }) => (
            <a key={id} className="button" href={`/sign-in/with/${id}?next=${encodeURIComponent(next)}`}>
              {fill(t.signIn.with, { name })}
            </a>
          ))}
        </div>
      )}
      {passwords ? <PasswordForm {...form} /> : null}
    </>
  );
}

interface PasswordFormProps {
  email: string;
  onEmail: (email: string) => void;
  /** The challenge of a code has expired. */
  isOver: boolean;
  onDone: (result: { secondFactorRequired: boolean }) => void;
}

function PasswordForm({ email, onEmail, isOver, onDone }: PasswordFormProps) {
  const { t } = useLanguage();
  const steyg = useSteyg();
  const [password, setPassword] = useState('');
  const [unconfirmed, setUnconfirmed] = useState(false);
  const signIn = useChange({
    change: async (_steyg, input: { email: string; password: string }) => {
      const result = await steyg.console.people.signIn(input);
      setUnconfirmed(isFailure(result) && result.__typename === 'EmailNotVerifiedError');
      return result;
    },
    done: onDone,
  });
  return (
    <>
      {isOver && signIn.isIdle ? <Banner tone="warn">{t.signIn.again}</Banner> : null}
      <Form
        onSubmit={() => signIn.mutate({ email, password })}
        error={unconfirmed ? null : signIn.error}
        actions={
          <Button type="submit" look="primary" busy={signIn.isPending}>
            {t.signIn.action}
          </Button>
        }
      >
        <TextField
          label={t.signIn.email}
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={onEmail}
        />
        <TextField
          label={t.signIn.password}
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
        />
        {unconfirmed ? <Unconfirmed email={email} /> : null}
      </Form>
      <p className="aside">
        <Link href={pages.forgotPassword}>{t.signIn.forgot}</Link>
        <span>
          {t.signIn.noAccount} <Link href={pages.signUp}>{t.nav.signUp}</Link>
        </span>
      </p>
    </>
  );
}

function Unconfirmed({ email }: { email: string }) {
  const { t } = useLanguage();
  const resend = useChange({ change: (steyg, to: string) => steyg.console.people.resendVerification({ email: to }) });
  return (
    <Banner
      tone="warn"
      action={
        <Button small busy={resend.isPending} onClick={() => resend.mutate(email)}>
          {t.signUp.resend}
        </Button>
      }
    >
      <p>{resend.isSuccess ? t.signUp.resent : t.errors.EMAIL_NOT_VERIFIED}</p>
    </Banner>
  );
}

function CodeForm({ onDone, onBack, onOver }: { onDone: () => void; onBack: () => void; onOver: () => void }) {
  const { t } = useLanguage();
  const [code, setCode] = useState('');
  const [backup, setBackup] = useState(false);
  const signIn = useChange({
    change: async (steyg, input: { code: string; backup: boolean }) => {
      const result = await steyg.console.people.signInWithCode(input);
      if (isFailure(result) && result.__typename === 'InvalidTokenError') onOver();
      return result;
    },
    done: onDone,
  });
  return (
    <Form
      onSubmit={() => signIn.mutate({ code: code.trim(), backup })}
      error={signIn.error}
      actions={
        <>
          <Button onClick={onBack}>{t.common.back}</Button>
          <Button type="submit" look="primary" busy={signIn.isPending}>
            {t.signIn.action}
          </Button>
        </>
      }
    >
      <TextField
        label={backup ? t.signIn.backupCode : t.signIn.code}
        hint={backup ? t.signIn.backupHint : t.signIn.codeHint}
        autoComplete="one-time-code"
        inputMode={backup ? 'text' : 'numeric'}
        required
        value={code}
        onChange={setCode}
      />
      <Checkbox label={t.signIn.useBackup} checked={backup} onChange={setBackup} />
    </Form>
  );
}
