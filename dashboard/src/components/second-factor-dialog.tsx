/** Setting up one-time codes, on the page of security or over the page that asks for them. */

import type { BeginSecondFactorAnswer, Success } from '@steyg/sdk';
import { useMemo, useState } from 'react';
import { viewerKey } from '../answers.ts';
import { useChange } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { qrImage } from '../qr.ts';
import { Button } from './button.tsx';
import { Code, CopyValue } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { PasswordAgain } from './password-again.tsx';
import { useSay } from './toasts.tsx';

export type SecondFactorSetup = Success<BeginSecondFactorAnswer>;

/** Sets one-time codes up over the page that asked for them, whose contents stay as they are. */
export default function SecondFactorDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const [password, setPassword] = useState('');
  const [setup, setSetup] = useState<SecondFactorSetup | null>(null);
  const begin = useChange({
    change: (steyg, input: string) => steyg.console.people.beginSecondFactor({ password: input }),
    done: setSetup,
  });
  return (
    <Dialog title={t.security.enable} onClose={onClose}>
      {setup === null ? (
        <PasswordForm
          value={password}
          onChange={setPassword}
          action={t.security.next}
          busy={begin.isPending}
          error={begin.error}
          onSubmit={() => begin.mutate(password)}
          onCancel={onClose}
        />
      ) : (
        <ConfirmSetup setup={setup} onClose={onClose} />
      )}
    </Dialog>
  );
}

/** Asks for the password once more before it goes on. */
export function PasswordForm(props: {
  value: string;
  onChange: (value: string) => void;
  action: string;
  busy: boolean;
  error: unknown;
  onSubmit: () => void;
  onCancel: () => void;
}) {
  const { t } = useLanguage();
  return (
    <Form
      onSubmit={props.onSubmit}
      error={props.error}
      actions={
        <>
          <Button onClick={props.onCancel}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={props.busy}>
            {props.action}
          </Button>
        </>
      }
    >
      <PasswordAgain value={props.value} onChange={props.onChange} />
    </Form>
  );
}

/** `later`: how the button that leaves is called; absent: it cancels. */
export function ConfirmSetup({
  setup,
  onClose,
  later,
}: {
  setup: SecondFactorSetup;
  onClose: () => void;
  later?: string;
}) {
  const { t } = useLanguage();
  const say = useSay();
  const [code, setCode] = useState('');
  const secret = new URL(setup.uri).searchParams.get('secret') ?? '';
  const picture = useMemo(() => qrImage(setup.uri), [setup.uri]);
  const confirm = useChange({
    change: (steyg, input: string) => steyg.console.people.confirmSecondFactor({ code: input }),
    refresh: [viewerKey, ['operator', 'setup']],
    done: () => {
      say(t.security.enabled);
      onClose();
    },
  });
  return (
    <Form
      onSubmit={() => confirm.mutate(code.trim())}
      error={confirm.error}
      actions={
        <>
          <Button onClick={onClose}>{later ?? t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={confirm.isPending}>
            {t.security.enableKept}
          </Button>
        </>
      }
    >
      <p>{t.security.scan}</p>
      <img className="qr" src={picture} width="200" height="200" alt={t.security.qr} />
      <CopyValue label={t.security.secret} text={secret} />
      <Code text={setup.backupCodes.join('\n')} what={t.security.backupCodes} title={t.security.backupCodes} />
      <p className="hint">{t.security.backupHint}</p>
      <TextField
        label={t.signIn.code}
        hint={t.signIn.codeHint}
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        value={code}
        onChange={setCode}
      />
    </Form>
  );
}
