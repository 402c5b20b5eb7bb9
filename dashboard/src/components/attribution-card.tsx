/** What an account has stored of whom its requests are for. */

import type { AttributionModeAnswer } from '@steyg/sdk';
import { useId } from 'react';
import { useAttributionTexts } from '../attribution-texts.ts';
import { useAsk, useChange } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { useAbilities, useAccount } from '../session.tsx';
import { Fold } from './page.tsx';
import { FailureNotice, Loaded } from './states.tsx';
import { useSay } from './toasts.tsx';

type Mode = NonNullable<AttributionModeAnswer>;
type SentMode = NonNullable<Mode>;
const modes = ['TAGS', 'DIGESTS', 'PLAIN', 'OFF'] as const satisfies readonly SentMode[];

export function AttributionCard() {
  const texts = useAttributionTexts();
  const { id: accountId } = useAccount();
  const mode = useAsk({
    key: ['attribution-mode', accountId],
    ask: (steyg, signal) => steyg.console.accounts.attributionMode({ id: accountId }, { signal }),
  });
  return (
    <Fold title={texts.stored} place="stored" state={mode.data == null ? undefined : texts.modes[mode.data].name}>
      <p className="hint">{texts.storedText}</p>
      <Loaded query={mode}>{(found) => (found === null ? null : <Modes current={found} />)}</Loaded>
    </Fold>
  );
}

function Modes({ current }: { current: Mode }) {
  const { t } = useLanguage();
  const texts = useAttributionTexts();
  const say = useSay();
  const name = useId();
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const save = useChange({
    change: (steyg, mode: SentMode) => steyg.console.accounts.setAttributionMode({ input: { accountId, mode } }),
    refresh: [['attribution-mode', accountId]],
    done: () => say(t.common.saved),
  });
  return (
    <fieldset className="plain">
      <legend className="sr-only">{texts.stored}</legend>
      {save.error === null ? null : <FailureNotice error={save.error} />}
      {modes.map((mode) => (
        <label key={mode} className="check">
          <input
            type="radio"
            name={name}
            value={mode}
            checked={(save.isPending ? save.variables : current) === mode}
            disabled={!billing || save.isPending}
            onChange={() => save.mutate(mode)}
          />
          <span>
            <strong>{texts.modes[mode].name}</strong>
            <span className="note line">{texts.modes[mode].text}</span>
          </span>
        </label>
      ))}
      <p className="hint">{texts.storedNow}</p>
    </fieldset>
  );
}
