/** Pace and budget of probes with what they cost, and the agents that measure from elsewhere. */

import type { ProbingAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { Checkbox, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Moment } from '../../components/moment.tsx';
import { SecretDialog } from '../../components/new-key.tsx';
import { Badge, Card } from '../../components/page.tsx';
import { Banner, Empty, Loaded } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { Usd } from '../../components/usd.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { fill, useOperatorLanguage } from '../../language/language.tsx';

type Probing = NonNullable<ProbingAnswer>['probing'];
type ModelProbing = Probing['models'][number];
type Agent = NonNullable<ProbingAnswer>['probeAgents'][number];

const probingKey = ['probing'];

export function Measuring() {
  const { t } = useOperatorLanguage();
  const found = useAsk({
    key: probingKey,
    ask: (steyg, signal) => steyg.console.operator.probing({}, { signal }),
    every: 60_000,
  });
  return (
    <Loaded query={found}>
      {(answer) =>
        answer === null ? (
          <Empty title={t.operator.noData} />
        ) : (
          <>
            <PaceCard probing={answer.probing} />
            <AgentsCard agents={answer.probeAgents} />
          </>
        )
      }
    </Loaded>
  );
}

/** What the dialog changes: the settings of all models, or those of one. */
type Chosen = { model: ModelProbing | null };

function PaceCard({ probing }: { probing: Probing }) {
  const { t, format } = useOperatorLanguage();
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const isSlowed = probing.models.some(({ askedMinutes, effectiveMinutes }) => effectiveMinutes !== askedMinutes);
  const every = (minutes: number) =>
    minutes === 0 ? t.operator.notProbed : fill(t.operator.everyMinutes, { minutes: format.number(minutes) });
  return (
    <Card
      title={t.operator.pace}
      actions={
        <Button takes="saveProbing" small onClick={() => setChosen({ model: null })}>
          {t.operator.changePace}
        </Button>
      }
    >
      <p>
        {fill(t.operator.paceOfAll, {
          every: every(probing.everyMinutes),
          budget: format.usd(probing.monthlyBudget),
          spent: format.usd(probing.spentThisMonth),
          observers: format.number(probing.observers),
        })}
      </p>
      {probing.serviceProbes ? null : <Banner tone="warn">{t.operator.probesOff}</Banner>}
      {isSlowed ? <Banner tone="warn">{t.operator.paceSlowed}</Banner> : null}
      <Table
        caption={t.operator.pace}
        rows={probing.models}
        rowKey={({ modelId }) => modelId}
        columns={[
          { head: t.models.model, names: true, cell: ({ modelId }) => <code>{modelId}</code> },
          { head: t.operator.askedPace, figure: true, cell: ({ askedMinutes }) => every(askedMinutes) },
          {
            head: t.operator.keptPace,
            figure: true,
            cell: ({ askedMinutes, effectiveMinutes }) =>
              effectiveMinutes === askedMinutes ? (
                every(effectiveMinutes)
              ) : (
                <Badge tone="warn">{every(effectiveMinutes)}</Badge>
              ),
          },
          {
            head: t.operator.costAsked,
            figure: true,
            cell: ({ askedMonthlyCost }) => <Usd amount={askedMonthlyCost} />,
          },
          { head: t.operator.costKept, figure: true, cell: ({ monthlyCost }) => <Usd amount={monthlyCost} /> },
          {
            head: t.operator.costUpstream,
            figure: true,
            cell: ({ monthlyUpstreamCost }) =>
              monthlyUpstreamCost === null ? t.operator.costUnknown : <Usd amount={monthlyUpstreamCost} />,
          },
          {
            head: t.common.actions,
            silentHead: true,
            cell: (model) => (
              <Button
                takes="saveProbing"
                small
                aria-label={`${t.operator.changePace}: ${model.modelId}`}
                onClick={() => setChosen({ model })}
              >
                {t.operator.changePace}
              </Button>
            ),
          },
        ]}
      />
      <p className="hint">{t.operator.costHint}</p>
      {chosen === null ? null : <PaceDialog probing={probing} model={chosen.model} onClose={() => setChosen(null)} />}
    </Card>
  );
}

function PaceDialog({
  probing,
  model,
  onClose,
}: {
  probing: Probing;
  model: ModelProbing | null;
  onClose: () => void;
}) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const current = model ?? probing;
  const [minutes, setMinutes] = useState(current.everyMinutes === null ? '' : String(current.everyMinutes));
  const [budget, setBudget] = useState(current.monthlyBudget ?? '');
  const save = useChange({
    change: (steyg, input: { minutes: string; budget: string }) =>
      steyg.console.operator.saveProbing({
        input: {
          modelId: model?.modelId ?? null,
          everyMinutes: input.minutes.trim() === '' ? null : Number(input.minutes),
          monthlyBudget: input.budget.trim() === '' ? null : input.budget.trim(),
        },
      }),
    refresh: [probingKey, ['status']],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const title = model === null ? t.operator.pace : `${t.operator.pace}: ${model.modelId}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        onSubmit={() => save.mutate({ minutes, budget })}
        error={save.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={save.isPending}>
              {t.common.save}
            </Button>
          </>
        }
      >
        <TextField
          label={t.operator.paceMinutes}
          hint={model === null ? undefined : t.operator.paceMinutesHint}
          type="number"
          min={model === null ? 1 : 0}
          max={1440}
          required={model === null}
          value={minutes}
          onChange={setMinutes}
        />
        <TextField
          label={t.operator.paceBudget}
          hint={model === null ? undefined : t.operator.paceBudgetHint}
          inputMode="decimal"
          required={model === null}
          value={budget}
          onChange={setBudget}
        />
      </Form>
    </Dialog>
  );
}

function AgentsCard({ agents }: { agents: readonly Agent[] }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const failure = useFailureToast();
  const [adding, setAdding] = useState(false);
  const [revoking, setRevoking] = useState<Agent | null>(null);
  const [keepResults, setKeepResults] = useState(false);
  const revoke = useChange({
    change: (steyg, id: string) => steyg.console.operator.revokeProbeAgent({ id, keepResults }),
    refresh: [probingKey],
    done: () => {
      setRevoking(null);
      say(t.common.saved);
    },
  });
  return (
    <Card
      title={t.operator.agents}
      actions={
        <Button takes="createProbeAgent" small onClick={() => setAdding(true)}>
          {t.operator.addAgent}
        </Button>
      }
    >
      <p className="hint">{t.operator.agentsHint}</p>
      {agents.length === 0 ? (
        <Empty title={t.operator.noAgents} />
      ) : (
        <Table
          caption={t.operator.agents}
          rows={agents}
          rowKey={({ id }) => id}
          columns={[
            { head: t.operator.agentName, names: true, cell: ({ name }) => name },
            { head: t.operator.agentRegion, cell: ({ region }) => region },
            { head: t.operator.agentToken, cell: ({ last4 }) => <code>…{last4}</code> },
            {
              head: t.operator.agentSeen,
              cell: ({ lastSeenAt }) => (lastSeenAt === null ? t.operator.agentNever : <Moment at={lastSeenAt} />),
            },
            {
              head: t.operator.revokeAgent,
              cell: (agent) =>
                agent.revokedAt === null ? (
                  <Button
                    takes="revokeProbeAgent"
                    small
                    aria-label={`${t.operator.revokeAgent}: ${agent.name}`}
                    onClick={() => {
                      setKeepResults(false);
                      setRevoking(agent);
                    }}
                  >
                    {t.operator.revokeAgent}
                  </Button>
                ) : (
                  <Badge>{t.operator.agentRevoked}</Badge>
                ),
            },
          ]}
        />
      )}
      {adding ? <AgentDialog onClose={() => setAdding(false)} /> : null}
      {revoking === null ? null : (
        <Confirm
          title={`${t.operator.revokeAgent}: ${revoking.name}`}
          action={t.operator.revokeAgent}
          busy={revoke.isPending}
          onConfirm={() => revoke.mutate(revoking.id, failure)}
          onClose={() => setRevoking(null)}
        >
          <p>{t.operator.revokeAgentHint}</p>
          <Checkbox label={t.operator.keepAgentResults} checked={keepResults} onChange={setKeepResults} />
        </Confirm>
      )}
    </Card>
  );
}

function AgentDialog({ onClose }: { onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const [name, setName] = useState('');
  const [region, setRegion] = useState('');
  const [token, setToken] = useState<string | null>(null);
  const create = useChange({
    change: (steyg, input: { name: string; region: string }) => steyg.console.operator.createProbeAgent({ input }),
    refresh: [probingKey],
    done: (made) => setToken(made.token),
  });
  if (token !== null)
    return <SecretDialog title={t.operator.addAgent} secret={token} what={t.operator.agentToken} onClose={onClose} />;
  return (
    <Dialog title={t.operator.addAgent} onClose={onClose}>
      <Form
        onSubmit={() => create.mutate({ name: name.trim(), region: region.trim() })}
        error={create.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={create.isPending}>
              {t.operator.addAgent}
            </Button>
          </>
        }
      >
        <TextField label={t.operator.agentName} required maxLength={60} value={name} onChange={setName} />
        <TextField
          label={t.operator.agentRegion}
          hint={t.operator.agentRegionHint}
          required
          maxLength={60}
          value={region}
          onChange={setRegion}
        />
      </Form>
    </Dialog>
  );
}
