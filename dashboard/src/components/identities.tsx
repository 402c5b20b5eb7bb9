/** The accounts elsewhere that sign the person in: link, remove. */

import type { ListIdentitiesAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { viewerKey } from '../answers.ts';
import { useAsk, useChange } from '../data.tsx';
import { useNow } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useSignInMethods } from '../sign-in-methods.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Moment } from './moment.tsx';
import { Card } from './page.tsx';
import { PasswordAgain } from './password-again.tsx';
import { Empty, Loaded } from './states.tsx';
import { Table } from './table.tsx';
import { useSay } from './toasts.tsx';

type Identity = NonNullable<ListIdentitiesAnswer>[number];

const identitiesKey = [...viewerKey, 'identities'] as const;

export function IdentitiesCard() {
  const { t, format } = useLanguage();
  const now = useNow();
  const [removing, setRemoving] = useState<Identity | null>(null);
  const { providers } = useSignInMethods();
  const identities = useAsk({
    key: identitiesKey,
    ask: async (steyg, signal) => (await steyg.console.people.listIdentities({}, { signal })) ?? [],
  });
  // Where no provider is set up, those that people have can still be removed.
  if (providers.length === 0 && (identities.data ?? []).length === 0) return null;
  return (
    <Card title={t.identities.title}>
      <p className="hint">{t.identities.lead}</p>
      <Loaded query={identities}>
        {(rows) => (
          <>
            {rows.length === 0 ? (
              <Empty title={t.identities.none} />
            ) : (
              <Table
                caption={t.identities.title}
                rows={rows}
                rowKey={({ id }) => id}
                columns={[
                  { head: t.identities.service, names: true, cell: ({ name }) => name },
                  { head: t.identities.since, cell: ({ linkedAt }) => <Moment at={linkedAt} /> },
                  {
                    head: t.keys.lastUsed,
                    cell: ({ lastUsedAt }) => (lastUsedAt === null ? t.keys.never : format.ago(lastUsedAt, now)),
                  },
                  {
                    head: t.common.actions,
                    silentHead: true,
                    cell: (identity) => (
                      <div className="row-actions">
                        <Button
                          small
                          look="danger"
                          aria-label={fill(t.identities.removeWhat, { name: identity.name })}
                          onClick={() => setRemoving(identity)}
                        >
                          {t.identities.remove}
                        </Button>
                      </div>
                    ),
                  },
                ]}
              />
            )}
            <div className="actions">
              {providers
                .filter(({ id }) => !rows.some(({ provider }) => provider === id))
                .map(({ id, name }) => (
                  <a
                    key={id}
                    className="button"
                    href={`/sign-in/with/${id}?next=${encodeURIComponent(pages.security)}`}
                  >
                    {fill(t.identities.link, { name })}
                  </a>
                ))}
            </div>
          </>
        )}
      </Loaded>
      {removing === null ? null : <RemoveDialog identity={removing} onClose={() => setRemoving(null)} />}
    </Card>
  );
}

function RemoveDialog({ identity, onClose }: { identity: Identity; onClose: () => void }) {
  const { t } = useLanguage();
  const say = useSay();
  const [password, setPassword] = useState('');
  const remove = useChange({
    change: (steyg, input: string) => steyg.console.people.removeIdentity({ id: identity.id, password: input }),
    refresh: [viewerKey, identitiesKey],
    done: () => {
      say(t.identities.removed);
      onClose();
    },
  });
  return (
    <Dialog title={fill(t.identities.removeWhat, { name: identity.name })} onClose={onClose}>
      <p>{t.identities.removeText}</p>
      <Form
        onSubmit={() => remove.mutate(password)}
        error={remove.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="danger" busy={remove.isPending}>
              {t.identities.remove}
            </Button>
          </>
        }
      >
        <PasswordAgain value={password} onChange={setPassword} />
      </Form>
    </Dialog>
  );
}
