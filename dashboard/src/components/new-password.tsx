/** The input for a new password. */

import { useLanguage } from '../language/language.tsx';
import { TextField } from './field.tsx';

/** The server's minimum. */
const fewestCharacters = 10;

/** Where people choose a password: password managers offer to make one. */
export function NewPasswordField({
  label,
  value,
  onChange,
  error,
}: {
  label: string;
  value: string;
  onChange: (password: string) => void;
  error?: string | undefined;
}) {
  const { t } = useLanguage();
  return (
    <TextField
      label={label}
      type="password"
      autoComplete="new-password"
      required
      minLength={fewestCharacters}
      hint={t.signUp.passwordHint}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}
