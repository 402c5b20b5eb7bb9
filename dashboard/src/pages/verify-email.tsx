import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { Page } from '../components/page.tsx';
import { FailureNotice, LoadingSkeleton } from '../components/states.tsx';
import { useChange } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { pages, signInFor } from '../pages.ts';
import { useForget, useMaybeSession } from '../session.tsx';
import { openVerificationChannel } from '../verification.ts';

/** The page of a mail's link: confirms a sign-up, or one step of a change of address. */
export default function VerifyEmail() {
  const { t } = useLanguage();
  const [search] = useSearchParams();
  const token = search.get('token') ?? '';
  const [, go] = useLocation();
  const session = useMaybeSession();
  const forget = useForget();
  const [confirmed, setConfirmed] = useState(false);
  const used = useRef(false);
  const channel = useRef<ReturnType<typeof openVerificationChannel>>(null);
  const { mutate: verify, error } = useChange({
    change: (steyg, link: string) => steyg.console.people.verifyEmail({ token: link }),
    refresh: [['viewer']],
    done: () => {
      setConfirmed(true);
      channel.current?.post('confirmed');
    },
  });
  useEffect(() => {
    const opened = openVerificationChannel((message) => {
      // The tab of the sign-up signed in; this tab shares its cookie.
      if (message !== 'signed-in') return;
      go(signInFor(pages.start), { replace: true });
      void forget();
    });
    channel.current = opened;
    return () => opened.close();
  }, [forget, go]);
  useEffect(() => {
    // A link works once.
    if (used.current) return;
    used.current = true;
    verify(token);
  }, [verify, token]);
  const email = emailOf(token);
  return (
    <div className="narrow">
      <Page title={t.verify.title}>
        {error === null ? null : (
          <>
            <FailureNotice error={error} />
            <p className="aside">
              <Link href={pages.signIn}>{t.verify.again}</Link>
            </p>
          </>
        )}
        {confirmed ? (
          <>
            <p>{session === null ? t.verify.done : t.verify.step}</p>
            <div className="actions">
              {session === null ? (
                <Link
                  className="button primary"
                  href={`${signInFor(pages.start)}${email === null ? '' : `&email=${encodeURIComponent(email)}`}`}
                >
                  {t.nav.signIn}
                </Link>
              ) : (
                <Link className="button primary" href={pages.settings}>
                  {t.nav.settings}
                </Link>
              )}
            </div>
          </>
        ) : error === null ? (
          <LoadingSkeleton lines={2} />
        ) : null}
      </Page>
    </div>
  );
}

/** The address that a link is for is part of it and need not be typed. */
function emailOf(token: string): string | null {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { email } = JSON.parse(atob(payload)) as { email?: unknown };
    return typeof email === 'string' ? email : null;
  } catch {
    return null;
  }
}
