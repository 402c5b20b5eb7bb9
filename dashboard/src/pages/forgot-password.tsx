/** The page that asks for the mail to reset a password. */

import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { useChange } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';

export default function ForgotPassword() {
  const { t } = useLanguage();
  const [email, setEmail] = useState('');
  const ask = useChange({ change: (steyg, to: string) => steyg.console.people.requestPasswordReset({ email: to }) });
  return (
    <div className="narrow">
      <Page title={t.forgot.title} lead={t.forgot.lead}>
        {ask.isSuccess ? (
          <p role="status">{fill(t.forgot.sent, { email })}</p>
        ) : (
          <Form
            onSubmit={() => ask.mutate(email)}
            error={ask.error}
            actions={
              <Button type="submit" look="primary" busy={ask.isPending}>
                {t.forgot.action}
              </Button>
            }
          >
            <TextField
              label={t.signIn.email}
              type="email"
              autoComplete="username"
              required
              value={email}
              onChange={setEmail}
            />
          </Form>
        )}
        <p className="aside">
          <Link href={pages.signIn}>{t.nav.signIn}</Link>
        </p>
      </Page>
    </div>
  );
}
