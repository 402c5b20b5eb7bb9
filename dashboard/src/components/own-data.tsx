import { useState } from 'react';
import { useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { useLanguage } from '../language/language.tsx';
import { useAbilities, useAccount, useSession } from '../session.tsx';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Card, Fold } from './page.tsx';
import { FailureNotice } from './states.tsx';

/** The export of an account, and for its owners its erasure. */
export function OwnData() {
  const { t, locale } = useLanguage();
  const { id: accountId } = useAccount();
  const { role } = useAbilities();
  const { person } = useSession();
  const [typed, setTyped] = useState('');
  const [proof, setProof] = useState('');
  const link = useChange({ change: (steyg) => steyg.console.accounts.createAccountExport({ accountId }) });
  const erase = useChange({
    change: (steyg) =>
      steyg.console.accounts.eraseAccount({
        accountId,
        email: typed,
        ...(person.hasPassword ? { password: proof } : person.secondFactor ? { code: proof.trim() } : {}),
      }),
  });
  const { fields, rest } = useProblems(erase.error, ['email', 'password', 'code']);
  if (erase.data !== undefined)
    return (
      <Card title={t.ownData.erased}>
        <p>{t.ownData.proofText}</p>
        <div className="actions">
          <a className="button primary" href={`${erase.data.proofUrl}&lang=${locale}`}>
            {t.ownData.proof}
          </a>
          <Button onClick={() => location.assign('/')}>{t.ownData.leave}</Button>
        </div>
      </Card>
    );
  if (role !== 'OWNER' && role !== 'ADMIN') return null;
  return (
    <Fold title={t.ownData.title} state={role === 'OWNER' ? t.ownData.exportOrErase : t.ownData.exportAction}>
      <p className="hint">{t.ownData.exportHint}</p>
      {link.error === null ? null : <FailureNotice error={link.error} />}
      <div className="actions">
        <Button busy={link.isPending} onClick={() => link.mutate()}>
          {t.ownData.exportAction}
        </Button>
        {link.data === undefined ? null : <a href={link.data.url}>{t.ownData.download}</a>}
      </div>
      {role === 'OWNER' ? (
        <details>
          <summary>{t.ownData.erase}</summary>
          <Form
            onSubmit={() => erase.mutate()}
            error={rest}
            actions={
              <Button type="submit" look="danger" busy={erase.isPending}>
                {t.ownData.erase}
              </Button>
            }
          >
            <p>{t.ownData.eraseText}</p>
            <TextField
              label={t.ownData.eraseEmail}
              autoComplete="off"
              required
              value={typed}
              onChange={setTyped}
              error={fields['email']}
            />
            {person.hasPassword ? (
              <TextField
                label={t.security.passwordAgain}
                type="password"
                autoComplete="current-password"
                required
                value={proof}
                onChange={setProof}
                error={fields['password']}
              />
            ) : person.secondFactor ? (
              <TextField
                label={t.signIn.code}
                hint={t.signIn.codeHint}
                autoComplete="one-time-code"
                required
                value={proof}
                onChange={setProof}
                error={fields['code']}
              />
            ) : (
              <p className="hint">{t.errors.SIGN_IN_AGAIN}</p>
            )}
          </Form>
        </details>
      ) : null}
    </Fold>
  );
}
