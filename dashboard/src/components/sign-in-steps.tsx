/** The steps of a sign-in, on its page or over another one: with a provider, a passkey, or password and code. */

import { isFailure, type Steyg } from '@steyg/sdk';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useChange, useSteyg } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import type { Texts } from '../language/texts.ts';
import { pages } from '../pages.ts';
import { useSignInMethods } from '../sign-in-methods.ts';
import { passkeyFor, supportsPasskeys } from '../webauthn.ts';
import { Button } from './button.tsx';
import { Checkbox, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Banner, FailureNotice } from './states.tsx';

export function SignInSteps({
  email: knownEmail,
  needsCode: startsWithCode = false,
  failed = null,
  linking = null,
  next,
  again = false,
  onDone,
  children,
}: {
  email: string;
  /** A provider has signed the person in; the code is what remains. */
  needsCode?: boolean;
  /** Why the sign-in with a provider failed. */
  failed?: string | null;
  /** The provider whose account waits for a proof of the person who has its address here. */
  linking?: string | null;
  /** The page that a provider sends the browser back to. */
  next: string;
  /** Over a page that must stay as it is: providers open in another tab, and nothing leads away. */
  again?: boolean;
  /** `password`: what the person typed, where that signed them in. */
  onDone: (password?: string) => void;
  children: (title: string, step: ReactNode) => ReactNode;
}) {
  const { t } = useLanguage();
  const [email, setEmail] = useState(knownEmail);
  const [needsCode, setNeedsCode] = useState(startsWithCode);
  // The password step expires: a late code finds no challenge.
  const [isOver, setIsOver] = useState(false);
  if (needsCode) {
    return children(
      t.signIn.codeTitle,
      <CodeForm
        onDone={() => onDone()}
        onBack={() => setNeedsCode(false)}
        onOver={() => {
          setIsOver(true);
          setNeedsCode(false);
        }}
      />,
    );
  }
  return children(
    again ? t.signIn.againTitle : t.signIn.title,
    <Ways
      email={email}
      onEmail={setEmail}
      isOver={isOver}
      onDone={({ secondFactorRequired, password }) => (secondFactorRequired ? setNeedsCode(true) : onDone(password))}
      failed={failed}
      linking={linking}
      next={next}
      again={again}
    />,
  );
}

/** Providers and passkeys, and the password where it is allowed. */
function Ways({
  failed,
  linking,
  next,
  ...form
}: WayProps & { failed: string | null; linking: string | null; next: string }) {
  const { t } = useLanguage();
  const { passwords, passkeys, providers } = useSignInMethods();
  return (
    <>
      {failed === null ? null : <Banner tone="warn">{failureText(failed, t)}</Banner>}
      {linking === null ? null : <Linking name={providers.find(({ id }) => id === linking)?.name ?? linking} />}
      {providers.length === 0 ? null : (
        <div className="actions">
          {providers.map(({ id, name }) => (
            <a
              key={id}
              className="button"
              href={`/sign-in/with/${id}?next=${encodeURIComponent(next)}`}
              {...(form.again ? { target: '_blank', rel: 'opener' } : {})}
            >
              {fill(t.signIn.with, { name })}
            </a>
          ))}
        </div>
      )}
      {form.again && providers.length > 0 ? <p className="hint">{t.signIn.otherTab}</p> : null}
      {passkeys && supportsPasskeys() ? <WithPasskey onDone={form.onDone} /> : null}
      {passwords ? <PasswordForm {...form} /> : null}
    </>
  );
}

/** The server's reasons are a closed set; whatever else stands in the address is not shown. */
function failureText(failure: string, t: Texts): string {
  const { unconfirmed, unreachable, declined, many, provider } = t.signIn.failures;
  return { unconfirmed, unreachable, declined, many }[failure] ?? provider;
}

/** The address has a person here: they sign in as before, or open the link of a mail. */
function Linking({ name }: { name: string }) {
  const { t } = useLanguage();
  const send = useChange({ change: (steyg, _input: undefined) => steyg.console.people.requestIdentityLink() });
  return (
    <>
      <Banner
        tone="info"
        action={
          send.isSuccess ? null : (
            <Button small busy={send.isPending} onClick={() => send.mutate(undefined)}>
              {t.identities.sendLink}
            </Button>
          )
        }
      >
        <p role="status">{send.isSuccess ? t.identities.linkSent : fill(t.identities.proof, { name })}</p>
      </Banner>
      {send.error === null ? null : <FailureNotice error={send.error} />}
    </>
  );
}

interface WayProps {
  email: string;
  onEmail: (email: string) => void;
  /** The challenge of a code has expired. */
  isOver: boolean;
  onDone: (result: { secondFactorRequired: boolean; password?: string }) => void;
  again: boolean;
}

function PasswordForm({ email, onEmail, isOver, onDone, again }: WayProps) {
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
    done: (result, input) => onDone({ ...result, password: input.password }),
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
          autoComplete="username webauthn"
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
      {again ? null : (
        <p className="aside">
          <Link href={pages.forgotPassword}>{t.signIn.forgot}</Link>
          <span>
            {t.signIn.noAccount} <Link href={pages.signUp}>{t.nav.signUp}</Link>
          </span>
        </p>
      )}
    </>
  );
}

/** A button; and where the browser can, passkeys are offered with the saved sign-ins of the e-mail field. */
function WithPasskey({ onDone }: Pick<WayProps, 'onDone'>) {
  const { t } = useLanguage();
  const steyg = useSteyg();
  // A browser asks for one passkey at a time: the offer ends when the button opens the dialog.
  const offer = useRef(new AbortController());
  const answered = useRef(onDone);
  useEffect(() => {
    answered.current = onDone;
  });
  useEffect(() => {
    const waiting = offer.current;
    const wait = async () => {
      const result = await offerPasskey(steyg, waiting.signal);
      if (result !== null) answered.current(result);
    };
    void wait();
    return () => waiting.abort();
  }, [steyg]);
  const signIn = useChange({
    change: (_steyg, _input: undefined) => {
      offer.current.abort();
      return signInWithPasskey(steyg);
    },
    done: onDone,
  });
  return (
    <>
      <div className="actions">
        <Button busy={signIn.isPending} onClick={() => signIn.mutate(undefined)}>
          {t.passkeys.signIn}
        </Button>
      </div>
      {signIn.error === null ? null : <FailureNotice error={signIn.error} />}
    </>
  );
}

async function signInWithPasskey(steyg: Steyg, signal?: AbortSignal) {
  const begun = await steyg.console.people.beginPasskeySignIn();
  if (begun.__typename !== 'PasskeyOptions') return begun;
  return steyg.console.people.signInWithPasskey({ credential: await passkeyFor(begun.json, signal) });
}

/** Waits until one of the offered passkeys is chosen. Null: none was, or it did not sign in; the other ways are open. */
async function offerPasskey(steyg: Steyg, signal: AbortSignal): Promise<{ secondFactorRequired: boolean } | null> {
  try {
    // Older browsers have no such method, and no such offer.
    if (!(await PublicKeyCredential.isConditionalMediationAvailable()) || signal.aborted) return null;
    const result = await signInWithPasskey(steyg, signal);
    return isFailure(result) ? null : result;
  } catch {
    return null;
  }
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
