/** In the stead of a page whose session expired: signing in again, with what was typed as it was. */

import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useForget, useResume, useSession } from '../session.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { SignInSteps } from './sign-in-steps.tsx';

export default function SignInAgain() {
  const { t } = useLanguage();
  const { person } = useSession();
  const [, go] = useLocation();
  const resume = useResume();
  const forget = useForget();
  // With a provider, the session begins in another tab.
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') void resume();
    };
    addEventListener('focus', look);
    document.addEventListener('visibilitychange', look);
    return () => {
      removeEventListener('focus', look);
      document.removeEventListener('visibilitychange', look);
    };
  }, [resume]);
  return (
    <SignInSteps again email={person.email} next={pages.home} onDone={() => void resume()}>
      {(title, step) => (
        // Escape must not lose what was typed: only the button leaves.
        <Dialog key={title} title={title} mustAnswer onClose={() => undefined}>
          <p>{t.signIn.againLead}</p>
          {step}
          <p className="aside">
            <Button
              small
              onClick={() => {
                go(pages.home);
                void forget('signed-out');
              }}
            >
              {t.signIn.leave}
            </Button>
          </p>
        </Dialog>
      )}
    </SignInSteps>
  );
}
