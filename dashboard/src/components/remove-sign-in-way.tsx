/** Removes a way to sign in, after the password was said again. */

import type { Steyg } from '@steyg/sdk';
import type { QueryKey } from '@tanstack/react-query';
import { useState } from 'react';
import { viewerKey } from '../answers.ts';
import { useChange } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { PasswordAgain } from './password-again.tsx';
import { useSay } from './toasts.tsx';

export function RemoveSignInWay<Result>({
  title,
  text,
  action,
  done,
  remove,
  refresh,
  onClose,
}: {
  title: string;
  text: string;
  /** On the button. */
  action: string;
  /** What is said afterwards. */
  done: string;
  remove: (steyg: Steyg, password: string) => Promise<Result>;
  refresh: QueryKey;
  onClose: () => void;
}) {
  const { t } = useLanguage();
  const say = useSay();
  const [password, setPassword] = useState('');
  const removal = useChange({
    change: remove,
    refresh: [viewerKey, refresh],
    done: () => {
      say(done);
      onClose();
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <Form
        onSubmit={() => removal.mutate(password)}
        error={removal.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="danger" busy={removal.isPending}>
              {action}
            </Button>
          </>
        }
      >
        <PasswordAgain value={password} onChange={setPassword} />
      </Form>
    </Dialog>
  );
}
