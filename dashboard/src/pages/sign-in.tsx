/** The sign-in page. */

import { isFailure, type Steyg } from '@steyg/sdk';
import { lazy, Suspense, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { Page } from '../components/page.tsx';
import type { SecondFactorSetup } from '../components/second-factor-dialog.tsx';
import { SignInSteps } from '../components/sign-in-steps.tsx';
import { LoadingSkeleton } from '../components/states.tsx';
import { useSteyg } from '../data.tsx';
import { nextPage } from '../pages.ts';
import { useForget } from '../session.tsx';

/** For operators alone: the QR code's part is not for every visitor. */
const OperatorCodes = lazy(() => import('../components/operator-codes.tsx'));

export default function SignIn() {
  const [search] = useSearchParams();
  const [, go] = useLocation();
  const steyg = useSteyg();
  const forget = useForget();
  const [setup, setSetup] = useState<SecondFactorSetup | null>(null);
  const next = nextPage(globalThis.location.search);
  const linking = search.get('link');
  const leave = () => {
    // For a signed-in person, this address redirects to the requested page, unless it asks for a proof.
    if (linking !== null) go(next, { replace: true });
    void forget();
  };
  const finish = async (password?: string) => {
    const begun = password === undefined ? null : await codesFor(steyg, password);
    if (begun === null) leave();
    else setSetup(begun);
  };
  if (setup !== null) {
    return (
      <Suspense fallback={<LoadingSkeleton height="60vh" />}>
        <OperatorCodes setup={setup} onDone={leave} />
      </Suspense>
    );
  }
  return (
    <SignInSteps
      email={search.get('email') ?? ''}
      needsCode={search.get('code') === '1'}
      failed={search.get('error')}
      linking={linking}
      next={next}
      onDone={(password) => void finish(password)}
    >
      {(title, step) => (
        <div className="narrow">
          <Page title={title}>{step}</Page>
        </div>
      )}
    </SignInSteps>
  );
}

/**
 * The set-up of one-time codes, for an operator who has none: the password is asked for once, not again on the next
 * page. Null: the person needs none, or it can be done later.
 */
async function codesFor(steyg: Steyg, password: string): Promise<SecondFactorSetup | null> {
  try {
    const me = await steyg.console.people.me();
    if (me?.operator == null || me.user?.secondFactor !== false) return null;
    const begun = await steyg.console.people.beginSecondFactor({ password });
    return isFailure(begun) ? null : begun;
  } catch {
    return null;
  }
}
