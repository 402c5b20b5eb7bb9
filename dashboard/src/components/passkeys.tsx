/** The passkeys of the signed-in person: add, name, remove. */

import type { ListPasskeysAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { viewerKey } from '../answers.ts';
import { useAsk, useChange } from '../data.tsx';
import { deviceWords } from '../device.ts';
import { useNow } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { useSession } from '../session.tsx';
import { useSignInMethods } from '../sign-in-methods.ts';
import { makePasskey, supportsPasskeys } from '../webauthn.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Moment } from './moment.tsx';
import { Badge, Card } from './page.tsx';
import { PasswordAgain } from './password-again.tsx';
import { RemoveSignInWay } from './remove-sign-in-way.tsx';
import { Empty, Loaded } from './states.tsx';
import { Table } from './table.tsx';
import { useSay } from './toasts.tsx';

type Passkey = NonNullable<ListPasskeysAnswer>[number];

const passkeysKey = [...viewerKey, 'passkeys'] as const;

export function PasskeysCard() {
  const { t, format } = useLanguage();
  const now = useNow();
  const [open, setOpen] = useState<'add' | { rename: Passkey } | { remove: Passkey } | null>(null);
  const close = () => setOpen(null);
  const { passkeys: isOn } = useSignInMethods();
  const passkeys = useAsk({
    key: passkeysKey,
    ask: async (steyg, signal) => (await steyg.console.people.listPasskeys({}, { signal })) ?? [],
  });
  // Where they are switched off, those that people have can still be removed.
  if (!isOn && (passkeys.data ?? []).length === 0) return null;
  return (
    <Card
      title={t.passkeys.title}
      actions={
        isOn && supportsPasskeys() ? (
          <Button small onClick={() => setOpen('add')}>
            {t.passkeys.add}
          </Button>
        ) : null
      }
    >
      <p className="hint">{t.passkeys.lead}</p>
      <Loaded query={passkeys}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.passkeys.none} />
          ) : (
            <Table
              caption={t.passkeys.title}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.passkeys.name,
                  names: true,
                  cell: ({ name, backedUp }) => (
                    <>
                      {name} {backedUp ? <Badge tone="usual">{t.passkeys.backedUp}</Badge> : null}
                    </>
                  ),
                },
                { head: t.passkeys.since, cell: ({ createdAt }) => <Moment at={createdAt} /> },
                {
                  head: t.keys.lastUsed,
                  cell: ({ lastUsedAt }) => (lastUsedAt === null ? t.keys.never : format.ago(lastUsedAt, now)),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (passkey) => (
                    <div className="row-actions">
                      <Button
                        small
                        aria-label={fill(t.passkeys.renameWhat, { name: passkey.name })}
                        onClick={() => setOpen({ rename: passkey })}
                      >
                        {t.passkeys.rename}
                      </Button>
                      <Button
                        small
                        look="danger"
                        aria-label={fill(t.passkeys.removeWhat, { name: passkey.name })}
                        onClick={() => setOpen({ remove: passkey })}
                      >
                        {t.passkeys.remove}
                      </Button>
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {open === 'add' ? <AddDialog onClose={close} /> : null}
      {open !== null && open !== 'add' && 'rename' in open ? (
        <RenameDialog passkey={open.rename} onClose={close} />
      ) : null}
      {open !== null && open !== 'add' && 'remove' in open ? (
        <RemovePasskey passkey={open.remove} onClose={close} />
      ) : null}
    </Card>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const say = useSay();
  const { person, sessions } = useSession();
  const [name, setName] = useState(() => deviceWords(sessions.find(({ current }) => current)?.device ?? '', t));
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  // One object for both steps: a second attempt after a closed dialog needs a new challenge.
  const add = useChange({
    change: async (steyg, input: { name: string; password: string; code: string }) => {
      const begun = await steyg.console.people.beginPasskey({ password: input.password, code: input.code.trim() });
      if (begun.__typename !== 'PasskeyOptions') return begun;
      const credential = await makePasskey(begun.json);
      return steyg.console.people.addPasskey({ name: input.name, credential });
    },
    refresh: [passkeysKey],
    done: () => {
      say(t.passkeys.added);
      onClose();
    },
  });
  return (
    <Dialog title={t.passkeys.add} onClose={onClose}>
      <Form
        onSubmit={() => add.mutate({ name, password, code })}
        error={add.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={add.isPending}>
              {t.passkeys.add}
            </Button>
          </>
        }
      >
        <TextField
          label={t.passkeys.name}
          hint={t.passkeys.nameHint}
          required
          maxLength={100}
          value={name}
          onChange={setName}
        />
        <PasswordAgain value={password} onChange={setPassword} />
        {person.secondFactor ? (
          <TextField
            label={t.signIn.code}
            hint={t.signIn.codeHint}
            autoComplete="one-time-code"
            required
            value={code}
            onChange={setCode}
          />
        ) : null}
      </Form>
    </Dialog>
  );
}

function RenameDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const { t } = useLanguage();
  const [name, setName] = useState(passkey.name);
  const rename = useChange({
    change: (steyg, input: string) => steyg.console.people.renamePasskey({ id: passkey.id, name: input }),
    refresh: [passkeysKey],
    done: onClose,
  });
  return (
    <Dialog title={fill(t.passkeys.renameWhat, { name: passkey.name })} onClose={onClose}>
      <Form
        onSubmit={() => rename.mutate(name)}
        error={rename.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={rename.isPending}>
              {t.common.save}
            </Button>
          </>
        }
      >
        <TextField label={t.passkeys.name} required maxLength={100} value={name} onChange={setName} />
      </Form>
    </Dialog>
  );
}

function RemovePasskey({ passkey: { id, name }, onClose }: { passkey: Passkey; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <RemoveSignInWay
      title={fill(t.passkeys.removeWhat, { name: name })}
      text={t.passkeys.removeText}
      action={t.passkeys.remove}
      done={t.passkeys.removed}
      remove={(steyg, password) => steyg.console.people.removePasskey({ id, password })}
      refresh={passkeysKey}
      onClose={onClose}
    />
  );
}
