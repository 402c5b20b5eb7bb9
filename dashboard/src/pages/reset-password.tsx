/** The page that sets a new password with a mail's link. */

import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { Button } from '../components/button.tsx';
import { Form } from '../components/form.tsx';
import { NewPasswordField } from '../components/new-password.tsx';
import { Page } from '../components/page.tsx';
import { useChange } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';

export default function ResetPassword() {
  const { t } = useLanguage();
  const [search] = useSearchParams();
  const [password, setPassword] = useState('');
  const reset = useChange({
    change: (steyg, newPassword: string) =>
      steyg.console.people.resetPassword({ token: search.get('token') ?? '', newPassword }),
    refresh: [['viewer']],
  });
  return (
    <div className="narrow">
      <Page title={t.reset.title}>
        {reset.isSuccess ? (
          <>
            <p role="status">{t.reset.done}</p>
            <div className="actions">
              <Link className="button primary" href={pages.signIn}>
                {t.nav.signIn}
              </Link>
            </div>
          </>
        ) : (
          <Form
            onSubmit={() => reset.mutate(password)}
            error={reset.error}
            actions={
              <Button type="submit" look="primary" busy={reset.isPending}>
                {t.reset.action}
              </Button>
            }
          >
            <NewPasswordField label={t.reset.password} value={password} onChange={setPassword} />
          </Form>
        )}
      </Page>
    </div>
  );
}
