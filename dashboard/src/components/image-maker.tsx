/** The playground's images: one request at a time, its pictures and what it cost. */

import type { Estimate, Steyg } from '@steyg/sdk';
import { useEffect, useState } from 'react';
import { createModelClient } from '../client.ts';
import { imageTexts } from '../language/images.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { Button } from './button.tsx';
import { SelectField, TextArea } from './field.tsx';
import { Card } from './page.tsx';
import { FailureNotice } from './states.tsx';

const sizes = ['1024x1024', '1024x1536', '1536x1024'];
const qualities = ['low', 'medium', 'high'];
const numbers = ['1', '2', '3', '4'];
/** How long the choices must stay unchanged before their cost is asked for. */
const pauseMs = 600;

type ImageAsk = Parameters<Steyg['images']['generate']>[0] & { prompt: string };

interface Made {
  prompt: string;
  pictures: readonly string[];
  costUsd: string | null;
}

/** An address of the picture; `format`: as the answer says. */
const sourceOf = (
  { b64_json, url }: { b64_json?: string | undefined; url?: string | undefined },
  format: string,
): string => (b64_json === undefined ? (url ?? '') : `data:image/${format};base64,${b64_json}`);

function useMaking(apiKey: string | null) {
  const [made, setMade] = useState<Made | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  // Who leaves the page stops listening; what the vendor works on is charged.
  useEffect(() => () => running?.abort(), [running]);
  const make = async (ask: ImageAsk): Promise<void> => {
    if (apiKey === null) return;
    const leaving = new AbortController();
    setRunning(leaving);
    setError(null);
    try {
      const steyg = createModelClient(location.origin, apiKey);
      const answer = await steyg.images.generate(ask, { signal: leaving.signal });
      const format = answer.output_format ?? 'png';
      setMade({
        prompt: ask.prompt,
        pictures: answer.data.map((picture) => sourceOf(picture, format)),
        costUsd: answer.steyg.costUsd,
      });
    } catch (failure) {
      if (!leaving.signal.aborted) setError(failure);
    } finally {
      setRunning(null);
    }
  };
  return { made, error, isRunning: running !== null, make };
}

/** The most that the request can cost; null: not known yet, or it would be refused. */
function useMost(apiKey: string | null, ask: ImageAsk | null): Estimate | null {
  const [estimate, setEstimate] = useState<Estimate | null>(null);
  const asked = ask === null || apiKey === null ? null : JSON.stringify(ask);
  useEffect(() => {
    if (asked === null || apiKey === null) return setEstimate(null);
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      const steyg = createModelClient(location.origin, apiKey);
      steyg.images.estimate(JSON.parse(asked) as ImageAsk, { signal: leaving.signal }).then(setEstimate, () => {
        if (!leaving.signal.aborted) setEstimate(null);
      });
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [apiKey, asked]);
  return estimate;
}

/** `wanted`: the model of the page's address. */
export function ImageMaker({
  models,
  wanted,
  apiKey,
}: {
  models: readonly { modelId: string }[];
  wanted: string | null;
  apiKey: string | null;
}) {
  const { t, locale, format } = useLanguage();
  const texts = imageTexts[locale];
  const [model, setModel] = useState(
    models.find(({ modelId }) => modelId === wanted)?.modelId ?? models[0]?.modelId ?? '',
  );
  const [prompt, setPrompt] = useState('');
  const [size, setSize] = useState('1024x1024');
  const [quality, setQuality] = useState('low');
  const [number, setNumber] = useState('1');
  const { made, error, isRunning, make } = useMaking(apiKey);
  const ask: ImageAsk | null =
    prompt.trim() === ''
      ? null
      : {
          model,
          prompt: prompt.trim(),
          n: Number(number),
          ...(size === '' ? {} : { size }),
          ...(quality === '' ? {} : { quality }),
        };
  const most = useMost(apiKey, ask);
  const choices = (words: readonly string[]) => [
    ...words.map((value) => ({ value, label: value })),
    { value: '', label: texts.auto },
  ];
  return (
    <div className="playground">
      <Card title={t.playground.settings}>
        <SelectField
          label={t.models.model}
          value={model}
          onChange={setModel}
          options={models.map(({ modelId }) => ({ value: modelId, label: modelId }))}
        />
        <SelectField label={texts.size} value={size} onChange={setSize} options={choices(sizes)} />
        <SelectField label={texts.quality} value={quality} onChange={setQuality} options={choices(qualities)} />
        <SelectField
          label={texts.number}
          value={number}
          onChange={setNumber}
          options={numbers.map((value) => ({ value, label: value }))}
        />
      </Card>
      <section className="chat" aria-label={texts.images}>
        <form
          className="composer"
          onSubmit={(event) => {
            event.preventDefault();
            if (ask !== null && !isRunning) void make(ask);
          }}
        >
          <TextArea
            label={texts.prompt}
            hint={apiKey === null ? t.playground.needsKey : undefined}
            rows={3}
            value={prompt}
            onChange={setPrompt}
          />
          {most === null ? null : (
            <p className="hint">
              {fill(texts.most, { most: format.usdExact(most.mostUsd), hold: format.usdExact(most.holdUsd) })}
            </p>
          )}
          <div className="actions">
            <Button type="submit" look="primary" busy={isRunning} disabled={ask === null || apiKey === null}>
              {texts.make}
            </Button>
          </div>
        </form>
        {error === null ? null : <FailureNotice error={error} />}
        <p className={isRunning ? 'hint' : 'sr-only'} role="status">
          {isRunning ? texts.making : ''}
        </p>
        {made === null ? null : (
          <>
            <div className="pictures">
              {made.pictures.map((picture, index) => (
                <img
                  key={`${index} ${picture.length}`}
                  src={picture}
                  alt={fill(texts.made, { n: String(index + 1), prompt: made.prompt })}
                />
              ))}
            </div>
            {made.costUsd === null ? null : <p>{fill(texts.cost, { usd: format.usdExact(made.costUsd) })}</p>}
            <p className="hint">{texts.kept}</p>
          </>
        )}
      </section>
    </div>
  );
}
