/** The page of a mail's link: an account elsewhere signs the person in from now on. */

import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { Page } from '../components/page.tsx';
import { FailureNotice, LoadingSkeleton } from '../components/states.tsx';
import { useChange } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useForget } from '../session.tsx';

export default function LinkIdentity() {
  const { t } = useLanguage();
  const [search] = useSearchParams();
  const token = search.get('token') ?? '';
  const [, go] = useLocation();
  const forget = useForget();
  const [isDone, setIsDone] = useState(false);
  const used = useRef(false);
  const { mutate: link, error } = useChange({
    change: (steyg, mailed: string) => steyg.console.people.linkIdentity({ token: mailed }),
    done: ({ secondFactorRequired }) => {
      setIsDone(true);
      go(secondFactorRequired ? `${pages.signIn}?code=1` : pages.home, { replace: true });
      void forget();
    },
  });
  useEffect(() => {
    // A link works once.
    if (used.current) return;
    used.current = true;
    link(token);
  }, [link, token]);
  return (
    <div className="narrow">
      <Page title={t.identities.linkTitle}>
        {error === null ? null : (
          <>
            <FailureNotice error={error} />
            <p className="aside">
              <Link href={pages.signIn}>{t.nav.signIn}</Link>
            </p>
          </>
        )}
        {error === null && !isDone ? <LoadingSkeleton lines={2} /> : null}
      </Page>
    </div>
  );
}
