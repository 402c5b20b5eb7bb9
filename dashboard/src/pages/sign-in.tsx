/** The sign-in page. */

import { useLocation, useSearchParams } from 'wouter';
import { Page } from '../components/page.tsx';
import { SignInSteps } from '../components/sign-in-steps.tsx';
import { nextPage } from '../pages.ts';
import { useForget } from '../session.tsx';

export default function SignIn() {
  const [search] = useSearchParams();
  const [, go] = useLocation();
  const forget = useForget();
  const next = nextPage(globalThis.location.search);
  const linking = search.get('link');
  return (
    <SignInSteps
      email={search.get('email') ?? ''}
      needsCode={search.get('code') === '1'}
      failed={search.get('error')}
      linking={linking}
      next={next}
      onDone={() => {
        // For a signed-in person, this address redirects to the requested page, unless it asks for a proof.
        if (linking !== null) go(next, { replace: true });
        void forget();
      }}
    >
      {(title, step) => (
        <div className="narrow">
          <Page title={title}>{step}</Page>
        </div>
      )}
    </SignInSteps>
  );
}
