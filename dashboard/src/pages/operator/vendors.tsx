/** The operator's way from a vendor's key to models on sale. */

import type { Success, TestVendorKeyAnswer, VendorsAnswer } from '@steyg/sdk';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { Checkbox, Choice, TextField } from '../../components/field.tsx';
import { Badge, Card, Page } from '../../components/page.tsx';
import { RouteTestButton } from '../../components/route-test.tsx';
import { Banner, FailureNotice, Loaded } from '../../components/states.tsx';
import { Step } from '../../components/step.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { TestBadge } from '../../components/test-badge.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { useExplain } from '../../explain.ts';
import { hoursText } from '../../hours.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { readMarkup, withMarkup } from '../../markup.ts';
import { pages, pathTo } from '../../pages.ts';
import { AddressForm, type OnSale } from './vendor-address.tsx';

type Vendor = NonNullable<VendorsAnswer>[number];
type Model = Vendor['models'][number];

const vendorsKey = ['operator', 'vendors'];
/** The choice of a vendor that has no entry of its own; no id has such a character. */
const anyVendor = '*';

export default function Vendors() {
  const { t } = useOperatorLanguage();
  // Whoever has an address and a key needs no choice; the shipped vendors are one away.
  const [chosen, setChosen] = useState<string>(anyVendor);
  const [added, setAdded] = useState<OnSale | null>(null);
  const vendors = useAsk({
    key: vendorsKey,
    ask: (steyg, signal) => steyg.console.operator.vendors({}, { signal }),
  });
  return (
    <Page title={t.nav.operatorVendors} lead={t.operator.vendorsLead}>
      {added === null ? (
        <Loaded query={vendors}>
          {(list) => {
            const vendor = list.find(({ vendorId }) => vendorId === chosen) ?? null;
            return (
              <ol className="steps">
                <Step number={1} title={t.operator.chooseVendor} done>
                  <Choice
                    label={t.operator.chooseVendor}
                    value={chosen}
                    options={[
                      ...list.map(({ vendorId, name }) => ({ value: vendorId, label: name })),
                      { value: anyVendor, label: t.operator.anyVendor },
                    ]}
                    onChange={setChosen}
                  />
                </Step>
                {chosen === anyVendor ? <AddressForm onAdded={setAdded} /> : null}
                {vendor === null ? null : <VendorForm key={vendor.vendorId} vendor={vendor} onAdded={setAdded} />}
              </ol>
            );
          }}
        </Loaded>
      ) : (
        <Added {...added} onAgain={() => setAdded(null)} />
      )}
    </Page>
  );
}

function VendorForm({ vendor, onAdded }: { vendor: Vendor; onAdded: (sold: OnSale) => void }) {
  const { t, format, count } = useOperatorLanguage();
  const explain = useExplain();
  const [secret, setSecret] = useState('');
  const [wanted, setWanted] = useState(
    () => new Set(vendor.models.filter(({ routeId }) => routeId === null).map(({ modelId }) => modelId)),
  );
  /** The key that stands in the field was tried, and did not work. */
  const [isRefused, setRefused] = useState(false);
  const [markup, setMarkup] = useState('15');
  const share = readMarkup(markup);
  const hasKey = secret.trim() !== '' || vendor.keys.length > 0;
  const add = useChange({
    change: (steyg, modelIds: readonly string[]) =>
      steyg.console.operator.addVendor({
        input: {
          vendorId: vendor.vendorId,
          ...(secret.trim() === '' ? {} : { secret: secret.trim() }),
          models: [...modelIds],
          markup: `${markup.trim()}%`,
        },
      }),
    refresh: [vendorsKey, ['operator', 'upstreams'], ['operator', 'catalog'], ['operator', 'setup'], ['models']],
    done: (now) => {
      setSecret('');
      onAdded({ name: now.name, models: now.models.filter(({ modelId }) => wanted.has(modelId)) });
    },
  });
  const { fields } = add.error === null ? { fields: {} as Record<string, string> } : explain(add.error);
  return (
    <>
      <KeyStep
        vendor={vendor}
        secret={secret}
        onChange={setSecret}
        onTried={(ok) => setRefused(!ok)}
        error={fields['secret']}
      />
      <Step number={3} title={t.operator.chooseModels} done={wanted.size > 0}>
        <p className="hint">
          {fill(t.operator.listedAt, { date: format.date(vendor.sourceDate) })}{' '}
          <a href={vendor.source} rel="noreferrer" target="_blank">
            {new URL(vendor.source).host}
          </a>
        </p>
        <Models vendor={vendor} wanted={wanted} onChange={setWanted} share={share} />
      </Step>
      <Step number={4} title={t.operator.chooseMarkup} done={share !== null}>
        <TextField
          label={t.operator.markup}
          hint={t.operator.markupHint}
          inputMode="decimal"
          value={markup}
          onChange={setMarkup}
          error={share === null ? t.operator.markupWrong : fields['markup']}
        />
        {add.error === null ? null : <FailureNotice error={add.error} />}
        <div className="actions">
          <Button
            look="primary"
            busy={add.isPending}
            disabled={!hasKey || isRefused || share === null || wanted.size === 0}
            onClick={() => add.mutate([...wanted])}
          >
            {count(t.operator.sellModels, wanted.size)}
          </Button>
        </div>
      </Step>
    </>
  );
}

function KeyStep({
  vendor,
  secret,
  onChange,
  onTried,
  error,
}: {
  vendor: Vendor;
  secret: string;
  onChange: (secret: string) => void;
  /** What a try of the key showed; a key that is typed anew has not been refused yet. */
  onTried: (ok: boolean) => void;
  error: string | undefined;
}) {
  const { t } = useOperatorLanguage();
  const failure = useFailureToast();
  const [result, setResult] = useState<Success<TestVendorKeyAnswer> | null>(null);
  const box = useRef<HTMLDivElement>(null);
  // The vendor was just chosen: its key is the next thing to give.
  useEffect(() => box.current?.querySelector('input')?.focus(), []);
  const test = useChange({
    change: (steyg, key: string) => steyg.console.operator.testVendorKey({ vendorId: vendor.vendorId, secret: key }),
    done: (tried) => {
      setResult(tried);
      onTried(tried.ok);
    },
  });
  return (
    <Step number={2} title={fill(t.operator.pasteKey, { vendor: vendor.name })} done={result?.ok === true}>
      <div ref={box}>
        <TextField
          label={t.operator.secret}
          hint={
            vendor.keys.length === 0
              ? t.operator.secretHint
              : fill(t.operator.keyIsHere, { keys: vendor.keys.map((last4) => `…${last4}`).join(', ') })
          }
          type="password"
          autoComplete="off"
          value={secret}
          onChange={(text) => {
            onChange(text);
            setResult(null);
            onTried(true);
          }}
          error={error}
        />
      </div>
      <div className="row-line">
        <Button
          busy={test.isPending}
          disabled={secret.trim() === ''}
          onClick={() => test.mutate(secret.trim(), failure)}
        >
          {t.operator.tryKey}
        </Button>
        <TestBadge result={result} />
      </div>
    </Step>
  );
}

function Models({
  vendor,
  wanted,
  onChange,
  share,
}: {
  vendor: Vendor;
  wanted: ReadonlySet<string>;
  onChange: (wanted: Set<string>) => void;
  share: ReturnType<typeof readMarkup>;
}) {
  const { t, format } = useOperatorLanguage();
  const toggle = (modelId: string, on: boolean) => {
    const next = new Set(wanted);
    if (on) next.add(modelId);
    else next.delete(modelId);
    onChange(next);
  };
  const pair = (model: Model, price: (text: string) => string) => (
    <>
      {format.usdExact(price(model.costs.input))}
      <br />
      {format.usdExact(price(model.costs.output))}
    </>
  );
  const columns: Column<Model>[] = [
    {
      head: t.models.model,
      names: true,
      cell: (model) => <ModelName model={model} isWanted={wanted.has(model.modelId)} onToggle={toggle} />,
    },
    { head: t.models.context, figure: true, cell: ({ contextWindow }) => format.number(contextWindow) },
    {
      head: t.operator.listPrice,
      figure: true,
      cell: (model) => pair(model, (text) => text),
    },
    {
      head: t.operator.ourPrice,
      figure: true,
      cell: (model) =>
        share === null || model.routeId !== null ? '–' : pair(model, (text) => withMarkup(text, share)),
    },
  ];
  return (
    <Table caption={t.operator.chooseModels} rows={vendor.models} rowKey={({ modelId }) => modelId} columns={columns} />
  );
}

function ModelName({
  model: { modelId, displayName, routeId, costs },
  isWanted,
  onToggle,
}: {
  model: Model;
  isWanted: boolean;
  onToggle: (modelId: string, on: boolean) => void;
}) {
  const { t, format, locale } = useOperatorLanguage();
  return (
    <>
      {routeId === null ? (
        <Checkbox
          label={
            <>
              {displayName}
              <br />
              <code>{modelId}</code>
            </>
          }
          checked={isWanted}
          onChange={(on) => onToggle(modelId, on)}
        />
      ) : (
        <>
          <Link href={pathTo(pages.operatorModel, { modelId })}>{displayName}</Link>{' '}
          <Badge tone="usual">{t.operator.isSold}</Badge>
        </>
      )}
      {costs.clock === null || costs.clock === undefined ? null : (
        <p className="hint">
          {fill(t.operator.dearerAt, {
            hours: costs.clock.windows
              .map((window) => hoursText(window, costs.clock?.timeZone ?? '', locale))
              .join('; '),
          })}
        </p>
      )}
      {costs.tiers.map(({ abovePromptTokens }) => (
        <p key={abovePromptTokens} className="hint">
          {fill(t.operator.dearerAbove, { tokens: format.number(abovePromptTokens) })}
        </p>
      ))}
    </>
  );
}

function Added({ name, models, onAgain }: OnSale & { onAgain: () => void }) {
  const { t, count } = useOperatorLanguage();
  return (
    <>
      <Banner tone="good" icon="check">
        {count(t.operator.onSaleNow, models.length)}
      </Banner>
      <Card title={fill(t.operator.tryModels, { vendor: name })}>
        <p className="hint">{t.operator.tryModelsHint}</p>
        <Table
          caption={fill(t.operator.tryModels, { vendor: name })}
          rows={models}
          rowKey={({ modelId }) => modelId}
          columns={[
            {
              head: t.models.model,
              names: true,
              cell: ({ modelId, displayName }) => (
                <Link href={pathTo(pages.operatorModel, { modelId })}>{displayName}</Link>
              ),
            },
            {
              head: t.common.actions,
              silentHead: true,
              cell: ({ modelId, routeId }) =>
                routeId === null ? null : <RouteTestButton id={routeId} name={modelId} />,
            },
          ]}
        />
      </Card>
      <div className="row-line">
        <Link href={pages.playground} className="button primary">
          {t.nav.playground}
        </Link>
        <Button onClick={onAgain}>{t.operator.anotherVendor}</Button>
      </div>
    </>
  );
}
