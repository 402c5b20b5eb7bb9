/** Any vendor from its address and a key: what was found, what is proposed, and what is sold. */

import type { DiscoverVendorAnswer, Success } from '@steyg/sdk';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Checkbox, SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { draftOfPrices, routeCostsOf } from '../../components/price-fields.tsx';
import { FailureNotice } from '../../components/states.tsx';
import { Step } from '../../components/step.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { asSent } from '../../known.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { readMarkup, withMarkup } from '../../markup.ts';
import { isUsd } from '../../money.ts';

type Found = Success<DiscoverVendorAnswer>;
type Model = Found['models'][number];

/** What the operator enters where the vendor's prices are not known, USD per 1M tokens. */
interface Costs {
  input: string;
  output: string;
}

export interface OnSale {
  name: string;
  models: readonly { modelId: string; displayName: string; routeId: string | null }[];
}

const refreshed = [
  ['operator', 'vendors'],
  ['operator', 'upstreams'],
  ['operator', 'catalog'],
  ['operator', 'setup'],
  ['models'],
];

export function AddressForm({ onAdded }: { onAdded: (sold: OnSale) => void }) {
  const { t } = useOperatorLanguage();
  const [baseUrl, setBaseUrl] = useState('');
  const [secret, setSecret] = useState('');
  const [found, setFound] = useState<Found | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector('input')?.focus(), []);
  const discover = useChange({
    change: (steyg, ask: { baseUrl: string; secret: string }) =>
      steyg.console.operator.discoverVendor({
        input: { baseUrl: ask.baseUrl, ...(ask.secret === '' ? {} : { secret: ask.secret }) },
      }),
    done: setFound,
  });
  const { fields, rest } = useProblems(discover.error, ['baseUrl', 'secret']);
  const typed = (set: (text: string) => void) => (text: string) => {
    set(text);
    setFound(null);
  };
  return (
    <>
      <Step number={2} title={t.operator.addressAndKey} done={found !== null}>
        <div ref={box}>
          <Form
            onSubmit={() => discover.mutate({ baseUrl: baseUrl.trim(), secret: secret.trim() })}
            error={rest}
            actions={
              <Button type="submit" look={found === null ? 'primary' : 'plain'} busy={discover.isPending}>
                {t.operator.findModels}
              </Button>
            }
          >
            <div className="fields">
              <TextField
                label={t.connect.baseUrl}
                hint={t.operator.anyAddressHint}
                type="url"
                required
                value={baseUrl}
                onChange={typed(setBaseUrl)}
                error={fields.baseUrl}
              />
              <TextField
                label={t.operator.secret}
                hint={t.operator.anyKeyHint}
                type="password"
                autoComplete="off"
                value={secret}
                onChange={typed(setSecret)}
                error={fields.secret}
              />
            </div>
          </Form>
        </div>
      </Step>
      {found === null ? null : (
        <SaleSteps
          key={`${found.baseUrl} ${found.models.length}`}
          found={found}
          secret={secret.trim()}
          onAdded={onAdded}
        />
      )}
    </>
  );
}

/** So many are proposed at once: of a longer list people choose. */
const mostProposed = 20;
/** A longer list is searched. */
const mostShown = 30;

function SaleSteps({ found, secret, onAdded }: { found: Found; secret: string; onAdded: (sold: OnSale) => void }) {
  const { t, count } = useOperatorLanguage();
  const priced = found.models.filter(({ costs }) => costs !== null);
  const [wanted, setWanted] = useState<ReadonlySet<string>>(
    () => new Set(priced.length > mostProposed ? [] : priced.map(({ upstreamModel }) => upstreamModel)),
  );
  const [entered, setEntered] = useState<Readonly<Record<string, Costs>>>({});
  const [upstreamId, setUpstreamId] = useState(found.upstreamId);
  const [profile, setProfile] = useState(found.profile ?? '');
  const [markup, setMarkup] = useState('15');
  const share = readMarkup(markup);
  const chosen = found.models.filter(({ upstreamModel }) => wanted.has(upstreamModel));
  const isPriced = chosen.every((model) => costsOf(model, entered) !== null);
  const add = useChange({
    change: (steyg, models: readonly Model[]) =>
      steyg.console.operator.addUpstreamModels({
        input: {
          upstreamId: upstreamId.trim(),
          protocol: asSent(found.protocol),
          baseUrl: found.baseUrl,
          ...(profile === '' ? {} : { profile }),
          ...(secret === '' ? {} : { secret }),
          markup: `${markup.trim()}%`,
          models: models.flatMap((model) => {
            const costs = costsOf(model, entered);
            const { costs: _listed, limitsKnown: _known, ...told } = model;
            const efforts = model.efforts.map(asSent);
            return costs === null ? [] : [{ ...told, kind: asSent(model.kind), efforts, costs }];
          }),
        },
      }),
    refresh: refreshed,
    done: (upstream) =>
      onAdded({
        name: upstream.upstreamId,
        models: chosen.map(({ modelId, upstreamModel, displayName }) => ({
          modelId,
          displayName,
          routeId: upstream.routes.find((route) => route.upstreamModel === upstreamModel)?.id ?? null,
        })),
      }),
  });
  const { fields, rest } = useProblems(add.error, ['upstreamId', 'profile', 'markup']);
  return (
    <>
      <Step number={3} title={t.operator.chooseModels} done={chosen.length > 0 && isPriced}>
        <p className="hint">
          {fill(t.operator.foundAt, { protocol: t.protocols[found.protocol], address: found.baseUrl })}{' '}
          {t.operator.foundPrices}
        </p>
        <FoundModels
          models={found.models}
          wanted={wanted}
          onChange={setWanted}
          entered={entered}
          onEnter={(model, costs) => setEntered({ ...entered, [model]: costs })}
          share={share}
        />
        <UpstreamDetails
          found={found}
          upstreamId={upstreamId}
          onUpstreamId={setUpstreamId}
          profile={profile}
          onProfile={setProfile}
          fields={fields}
        />
      </Step>
      <Step number={4} title={t.operator.chooseMarkup} done={share !== null}>
        <TextField
          label={t.operator.markup}
          hint={t.operator.markupHint}
          inputMode="decimal"
          value={markup}
          onChange={setMarkup}
          error={share === null ? t.operator.markupWrong : fields.markup}
        />
        <p className="hint">{t.operator.oneRequestFirst}</p>
        {rest === null ? null : <FailureNotice error={rest} />}
        <div className="actions">
          <Button
            look="primary"
            busy={add.isPending}
            disabled={share === null || chosen.length === 0 || !isPriced}
            onClick={() => add.mutate(chosen)}
          >
            {count(t.operator.sellModels, chosen.length)}
          </Button>
        </div>
      </Step>
    </>
  );
}

/** What the vendor charges for a model: as found, else as entered; null: not known yet. */
function costsOf(
  { upstreamModel, costs }: Pick<Model, 'upstreamModel' | 'costs'>,
  entered: Readonly<Record<string, Costs>>,
) {
  if (costs !== null) return routeCostsOf(draftOfPrices(costs));
  const { input, output } = entered[upstreamModel] ?? { input: '', output: '' };
  if (!isUsd(input, 6) || !isUsd(output, 6)) return null;
  // No discount is promised by anybody: context from the cache costs what new context does.
  return { input: input.trim(), cacheHit: input.trim(), output: output.trim() };
}

function FoundModels({
  models,
  wanted,
  onChange,
  entered,
  onEnter,
  share,
}: {
  models: readonly Model[];
  wanted: ReadonlySet<string>;
  onChange: (wanted: ReadonlySet<string>) => void;
  entered: Readonly<Record<string, Costs>>;
  onEnter: (upstreamModel: string, costs: Costs) => void;
  share: ReturnType<typeof readMarkup>;
}) {
  const { t, format } = useOperatorLanguage();
  const [search, setSearch] = useState('');
  const text = search.trim().toLowerCase();
  const matching = models.filter(({ upstreamModel }) => upstreamModel.toLowerCase().includes(text));
  // What was chosen stays in sight, whatever is searched for.
  const shown = [...new Set([...models.filter(({ upstreamModel }) => wanted.has(upstreamModel)), ...matching])];
  const toggle = (upstreamModel: string, on: boolean) => {
    const next = new Set(wanted);
    if (on) next.add(upstreamModel);
    else next.delete(upstreamModel);
    onChange(next);
  };
  const columns: Column<Model>[] = [
    {
      head: t.models.model,
      names: true,
      cell: ({ upstreamModel, modelId, displayName }) => (
        <Checkbox
          label={
            <>
              {displayName}
              <br />
              <code>{modelId}</code>
            </>
          }
          checked={wanted.has(upstreamModel)}
          onChange={(on) => toggle(upstreamModel, on)}
        />
      ),
    },
    {
      head: t.models.context,
      figure: true,
      cell: ({ contextWindow, maxOutputTokens, limitsKnown }) => (
        <>
          {format.number(contextWindow)}
          <br />
          {format.number(maxOutputTokens)}
          {limitsKnown ? null : <p className="hint">{t.operator.cautiousLimits}</p>}
        </>
      ),
    },
    {
      head: t.operator.listPrice,
      figure: true,
      cell: (model) =>
        model.costs === null ? (
          <EnteredCosts
            model={model}
            isWanted={wanted.has(model.upstreamModel)}
            costs={entered[model.upstreamModel] ?? { input: '', output: '' }}
            onChange={(costs) => onEnter(model.upstreamModel, costs)}
          />
        ) : (
          <>
            {format.usdExact(model.costs.input)}
            <br />
            {format.usdExact(model.costs.output)}
          </>
        ),
    },
    {
      head: t.operator.ourPrice,
      figure: true,
      cell: (model) => {
        const costs = costsOf(model, entered);
        if (costs === null || share === null) return '–';
        return (
          <>
            {format.usdExact(withMarkup(costs.input, share))}
            <br />
            {format.usdExact(withMarkup(costs.output, share))}
          </>
        );
      },
    },
  ];
  return (
    <>
      {models.length > mostShown ? (
        <TextField label={t.common.search} type="search" value={search} onChange={setSearch} />
      ) : null}
      <Table
        caption={t.operator.chooseModels}
        rows={shown.slice(0, Math.max(mostShown, wanted.size))}
        rowKey={({ upstreamModel }) => upstreamModel}
        columns={columns}
      />
      {shown.length > mostShown ? (
        <p className="hint">{fill(t.operator.moreModels, { shown: mostShown, all: format.number(models.length) })}</p>
      ) : null}
    </>
  );
}

/** The fields of a price that nobody states, once the model is chosen. */
function EnteredCosts({
  model,
  isWanted,
  costs,
  onChange,
}: {
  model: Model;
  isWanted: boolean;
  costs: Costs;
  onChange: (costs: Costs) => void;
}) {
  const { t } = useOperatorLanguage();
  if (!isWanted) return <>–</>;
  const wrong = (text: string) => (text === '' || isUsd(text, 6) ? undefined : t.operator.priceWrong);
  return (
    <>
      <TextField
        label={fill(t.operator.inputCost, { model: model.modelId })}
        inputMode="decimal"
        value={costs.input}
        onChange={(input) => onChange({ ...costs, input })}
        error={wrong(costs.input)}
      />
      <TextField
        label={fill(t.operator.outputCost, { model: model.modelId })}
        inputMode="decimal"
        value={costs.output}
        onChange={(output) => onChange({ ...costs, output })}
        error={wrong(costs.output)}
      />
    </>
  );
}

/** What is right as proposed for nearly everybody. */
function UpstreamDetails({
  found,
  upstreamId,
  onUpstreamId,
  profile,
  onProfile,
  fields,
}: {
  found: Found;
  upstreamId: string;
  onUpstreamId: (id: string) => void;
  profile: string;
  onProfile: (profile: string) => void;
  fields: { upstreamId?: string; profile?: string };
}) {
  const { t } = useOperatorLanguage();
  const profiles =
    useAsk({
      key: ['operator', 'vendorProfiles'],
      ask: (steyg, signal) => steyg.console.operator.vendorProfiles({}, { signal }),
    }).data ?? [];
  const fitting = profiles.filter(({ endpoints }) => endpoints.some(({ protocol }) => protocol === found.protocol));
  return (
    <details open={fields.upstreamId !== undefined || fields.profile !== undefined}>
      <summary>{t.operator.details}</summary>
      <div className="fields">
        <TextField label={t.operator.upstreamId} value={upstreamId} onChange={onUpstreamId} error={fields.upstreamId} />
        <SelectField
          label={t.operator.vendor}
          hint={t.operator.vendorHint}
          value={profile}
          onChange={onProfile}
          options={[
            { value: '', label: t.operator.otherVendor },
            ...fitting.map((one) => ({ value: one.profile, label: one.displayName })),
          ]}
          error={fields.profile}
        />
      </div>
    </details>
  );
}
