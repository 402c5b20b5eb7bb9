/** The accounts elsewhere that sign the person in: link, remove. */

import type { ListIdentitiesAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { viewerKey } from '../answers.ts';
import { useAsk } from '../data.tsx';
import { useNow } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useSignInMethods } from '../sign-in-methods.ts';
import { Button } from './button.tsx';
import { Moment } from './moment.tsx';
import { Card } from './page.tsx';
import { RemoveSignInWay } from './remove-sign-in-way.tsx';
import { Empty, Loaded } from './states.tsx';
import { Table } from './table.tsx';

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
      {removing === null ? null : (
        <RemoveSignInWay
          title={fill(t.identities.removeWhat, { name: removing.name })}
          text={t.identities.removeText}
          action={t.identities.remove}
          done={t.identities.removed}
          remove={(steyg, password) => steyg.console.people.removeIdentity({ id: removing.id, password })}
          refresh={identitiesKey}
          onClose={() => setRemoving(null)}
        />
      )}
    </Card>
  );
}
