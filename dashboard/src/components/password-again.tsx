/** The field for the password once more, before something that a stolen session must not do. */

import { useLanguage } from '../language/language.tsx';
import { useSession } from '../session.tsx';
import { TextField } from './field.tsx';

/** The password once more; people who have none are told that their sign-in must be fresh. */
export function PasswordAgain({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t } = useLanguage();
  const { person } = useSession();
  if (!person.hasPassword) return <p className="hint">{t.errors.SIGN_IN_AGAIN}</p>;
  return (
    <TextField
      label={t.security.passwordAgain}
      type="password"
      autoComplete="current-password"
      required
      value={value}
      onChange={onChange}
    />
  );
}
