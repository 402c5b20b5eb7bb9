/** The quickest way to set a tool up, and a request to see that it works. */

import type { ModelChoice, Scope, ToolName } from '@steyg/sdk/connect';
import { useState } from 'react';
import { createModelClient } from '../client.ts';
import { useOrigin, useSdkPackage } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { useAbilities, useMaybeSession } from '../session.tsx';
import { Button } from './button.tsx';
import { Code } from './copy.tsx';
import { useCreateKey } from './new-key.tsx';
import { Banner, FailureNotice } from './states.tsx';

const placeholder = 'YOUR_STEYG_API_KEY';

interface Command {
  tool: ToolName;
  title: string;
  /** Whether the tool has files that the command can write; otherwise it prints the settings. */
  writes: boolean;
  scope: Scope;
  apiKey: string | undefined;
  models: ModelChoice;
  /** The choice that the command makes by default. */
  usual: ModelChoice;
}

/** The command line that sets a tool up: the SDK reads the catalog, shows the changes and asks before it writes. */
export function commandOf(
  { tool, writes, scope, apiKey, models, usual }: Command,
  origin: string,
  sdk: string,
): string {
  const flags = (['main', 'large', 'medium', 'small'] as const).flatMap((part) => {
    const chosen = models[part];
    return chosen === undefined || chosen === usual[part] ? [] : [`--${part === 'main' ? 'model' : part} ${chosen}`];
  });
  const command = [
    `npx --yes ${sdk} connect`,
    tool,
    ...flags,
    scope === 'project' ? '--project' : '',
    writes ? '--write' : '',
  ];
  return [
    `export STEYG_BASE_URL=${origin}/api`,
    `export STEYG_API_KEY=${apiKey ?? placeholder}`,
    command.filter((part) => part !== '').join(' '),
  ].join('\n');
}

export function OneCommand(command: Command) {
  const { t } = useLanguage();
  return (
    <div>
      <h3>{t.connect.oneCommand}</h3>
      <p className="hint">{command.writes ? t.connect.oneCommandText : t.connect.oneCommandPrints}</p>
      <Code
        text={commandOf(command, useOrigin(), useSdkPackage())}
        what={fill(t.connect.commandOf, { title: command.title })}
      />
      {useMaybeSession()?.account == null ? null : <TestRequest apiKey={command.apiKey} model={command.models.main} />}
    </div>
  );
}

/** A key made for a test expires soon, and has a small limit. */
const testKey = { minutes: 10, usd: '0.1' };
const testTokens = 64;

type Outcome = { text: string; cost: string } | { error: unknown } | null;

/** Sends one small request from the page: with the key that was just made, or with one that expires soon. */
function TestRequest({ apiKey, model }: { apiKey: string | undefined; model: string }) {
  const { t, format } = useLanguage();
  const { keys } = useAbilities();
  const [running, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>(null);
  const send = async (secret: string) => {
    setRunning(true);
    setOutcome(null);
    try {
      const answer = await createModelClient(location.origin, secret).chat.completions.create({
        model,
        max_tokens: testTokens,
        messages: [{ role: 'user', content: t.connect.testQuestion }],
      });
      setOutcome({ text: answer.choices[0]?.message.content ?? '', cost: answer.steyg.costUsd ?? '0' });
    } catch (error) {
      setOutcome({ error });
    } finally {
      setRunning(false);
    }
  };
  const create = useCreateKey(({ secret }) => void send(secret ?? ''));
  if (apiKey === undefined && !keys) return null;
  return (
    <div className="test-request">
      <div className="actions">
        <Button
          busy={running || create.isPending}
          onClick={() => {
            if (apiKey !== undefined) void send(apiKey);
            else {
              create.mutate({
                name: t.connect.testKeyName,
                expiresAt: new Date(Date.now() + testKey.minutes * 60_000).toISOString(),
                limits: { day: null, month: null, lifetime: testKey.usd },
              });
            }
          }}
        >
          {t.connect.test}
        </Button>
        <p className="hint">{fill(apiKey === undefined ? t.connect.testTextKey : t.connect.testText, { model })}</p>
      </div>
      <div role="status">
        {create.error === null ? null : <FailureNotice error={create.error} />}
        {outcome === null ? null : 'error' in outcome ? (
          <FailureNotice error={outcome.error} />
        ) : (
          <Banner tone="good" icon="check">
            {fill(t.connect.testDone, { text: outcome.text, cost: format.usd(outcome.cost) })}
          </Banner>
        )}
      </div>
    </div>
  );
}
