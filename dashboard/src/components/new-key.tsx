/** Creates a key and shows its secret once. */

import { type CreateKeyAnswer, isFailure, type ListProjectsAnswer, type Success } from '@steyg/sdk';
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

type Project = NonNullable<ListProjectsAnswer>[number];

/** Whether the limits of a project leave anything at this moment. */
function hasRoom({ spend: { limits, held, thisMonth, lifetime } }: Project): boolean {
  const leaves = (limit: string | null, spent: string) =>
    limit === null || Number(limit) > Number(spent) + Number(held);
  return leaves(limits.month, thisMonth) && leaves(limits.lifetime, lifetime);
}

/**
 * Creates a key of the account. The secret is in the answer and never available again. Terms that say nothing of a project
 * leave it to the account: where keys must lie in one, it is the first open one with room.
 */
export function useCreateKey(done: (key: NewKey) => void) {
  const { id: accountId } = useAccount();
  return useChange({
    change: async (steyg, terms: KeyTerms, idempotencyKey) => {
      const made = await steyg.console.keys.createKey({ input: { ...terms, accountId, idempotencyKey } });
      const isRequired = isFailure(made) && made.code === 'PROJECT_REQUIRED';
      if (!isRequired || terms.projectId !== undefined) return made;
      const projects = await steyg.console.keys.listProjects({ accountId, archived: false });
      const project = projects?.find(hasRoom) ?? projects?.[0];
      if (project === undefined) return made;
      return steyg.console.keys.createKey({ input: { ...terms, accountId, projectId: project.id, idempotencyKey } });
    },
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
