/** One-time codes for an operator who has just signed in by password alone: the next thing to set up. */

import { useLanguage } from '../language/language.tsx';
import { Page } from './page.tsx';
import { ConfirmSetup, type SecondFactorSetup } from './second-factor-dialog.tsx';

export default function OperatorCodes({ setup, onDone }: { setup: SecondFactorSetup; onDone: () => void }) {
  const { t } = useLanguage();
  return (
    <div className="narrow">
      <Page title={t.security.enable} lead={t.security.enableLead}>
        <ConfirmSetup setup={setup} onClose={onDone} later={t.security.enableLater} />
      </Page>
    </div>
  );
}
