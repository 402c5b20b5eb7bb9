/** The sign-in page. */

import { useSearchParams } from 'wouter';
import { Page } from '../components/page.tsx';
import { SignInSteps } from '../components/sign-in-steps.tsx';
import { nextPage } from '../pages.ts';
import { useForget } from '../session.tsx';

export default function SignIn() {
  const [search] = useSearchParams();
  const forget = useForget();
  return (
    <SignInSteps
      email={search.get('email') ?? ''}
      needsCode={search.get('code') === '1'}
      failed={search.get('error')}
      next={nextPage(globalThis.location.search)}
      // For a signed-in person, this address redirects to the requested page.
      onDone={() => void forget()}
    >
      {(title, step) => (
        <div className="narrow">
          <Page title={title}>{step}</Page>
        </div>
      )}
    </SignInSteps>
  );
}
