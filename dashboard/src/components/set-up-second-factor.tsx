/** A button that sets one-time codes up over the page where a person is, who stays there with everything typed. */

import { lazy, Suspense, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';

/** Loaded at its first use: the QR code's part is not for every page. */
const SecondFactorDialog = lazy(() => import('./second-factor-dialog.tsx'));

export function SetUpSecondFactor({ primary = false }: { primary?: boolean }) {
  const { t } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button small {...(primary ? { look: 'primary' as const } : {})} onClick={() => setOpen(true)}>
        {t.security.setUp}
      </Button>
      {isOpen ? (
        <Suspense fallback={null}>
          <SecondFactorDialog onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
