/** Creates a key and shows its secret once. */

import type { CreateKeyAnswer, Success } from '@steyg/sdk';
import { useState } from 'react';
import { useChange } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';
import { Banner } from './states.tsx';

export type NewKey = Success<CreateKeyAnswer>;

export interface KeyTerms {
  name?: string;
  models?: string[];
  limits?: { day: string | null; week?: string | null; month: string | null; lifetime: string | null };
  burnLimit?: { amount: string; minutes: number } | null;
  requestsPerMinute?: number | null;
  tokensPerMinute?: number | null;
  maxConcurrent?: number | null;
  addresses?: string[];
  expiresAt?: string | null;
  projectId?: string | null;
  owner?: 'ACCOUNT' | 'MEMBER';
}

/** Creates a key of the account. The secret is in the answer and never available again. */
export function useCreateKey(done: (key: NewKey) => void) {
  const { id: accountId } = useAccount();
  return useChange({
    change: (steyg, terms: KeyTerms) => steyg.console.keys.createKey({ input: { ...terms, accountId } }),
    refresh: [['keys', accountId]],
    done,
  });
}

/** A secret, shown once. */
export function Secret({ secret, what }: { secret: string; what: string }) {
  return (
    <div className="secret">
      <code>{secret}</code>
      <CopyButton text={secret} what={what} />
    </div>
  );
}

/** The dialog with a secret. It closes when people confirm that they have copied it. */
export function SecretDialog({
  title,
  secret,
  what,
  onClose,
}: {
  title: string;
  secret: string;
  what: string;
  onClose: () => void;
}) {
  const { t } = useLanguage();
  const [kept, setKept] = useState(false);
  return (
    <Dialog title={title} onClose={onClose} mustAnswer>
      <Banner tone="warn">{fill(t.common.shownOnce, { what })}</Banner>
      <Secret secret={secret} what={what} />
      <Checkbox label={t.common.secretKept} checked={kept} onChange={setKept} />
      <div className="actions">
        <Button look="primary" disabled={!kept} onClick={onClose}>
          {t.common.done}
        </Button>
      </div>
    </Dialog>
  );
}
