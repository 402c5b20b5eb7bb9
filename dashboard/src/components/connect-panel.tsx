/** The exact settings of a client tool, to be copied. */

import type { ModelsAnswer } from '@steyg/sdk';
import {
  type Connection,
  chooseModels,
  connect,
  type ModelChoice,
  type Scope,
  type ToolName,
  tools,
} from '@steyg/sdk/connect';
import { useMemo, useState } from 'react';
import { connectionOf } from '../connection.ts';
import { useAsk, useOrigin } from '../data.tsx';
import { adviceIn } from '../language/advice.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { Code } from './copy.tsx';
import { Choice, SelectField } from './field.tsx';
import { OneCommand } from './one-command.tsx';
import { Badge } from './page.tsx';
import { Banner, Empty, Loaded } from './states.tsx';

type Models = NonNullable<ModelsAnswer>;

/** The catalog in the form that the settings are made from. */
export function catalogOf(models: Models) {
  return models.map((model) => ({
    id: model.modelId,
    displayName: model.displayName,
    contextLength: model.contextWindow,
    maxOutputTokens: model.maxOutputTokens,
    priceUsdPerMillion: { output: model.prices.output },
  }));
}

/**
 * The exact settings of a tool: with a key that was just made, otherwise with a placeholder. `folded`: those to enter
 * by hand are opened on request, because the page goes on below them.
 */
export function ConnectPanel({ apiKey, folded = false }: { apiKey?: string | undefined; folded?: boolean }) {
  const { t } = useLanguage();
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  return (
    <Loaded query={models}>
      {(all) => {
        const list = all.filter(({ kind }) => kind === 'TEXT');
        return list.length === 0 ? (
          <Empty title={t.models.empty} />
        ) : (
          <Settings models={list} apiKey={apiKey} folded={folded} />
        );
      }}
    </Loaded>
  );
}

function Settings({ models, apiKey, folded }: { models: Models; apiKey: string | undefined; folded: boolean }) {
  const { t } = useLanguage();
  const catalog = useMemo(() => catalogOf(models), [models]);
  const [tool, setTool] = useState<ToolName>('claude-code');
  const [scope, setScope] = useState<Scope>('user');
  const usual = useMemo(() => chooseModels(catalog), [catalog]);
  const [choice, setChoice] = useState<ModelChoice>(usual);
  const baseUrl = `${useOrigin()}/api`;
  const { connection, forProjects } = useMemo(
    () => connectionOf({ tool, scope, apiKey, models: choice, catalog, baseUrl }),
    [tool, scope, apiKey, choice, catalog, baseUrl],
  );
  const titles = useMemo(
    () =>
      tools.map((name) => ({
        value: name,
        label: connect({ tool: name, models: choice, baseUrl }).title,
      })),
    [choice, baseUrl],
  );
  const modelOptions = models.map(({ modelId }) => ({ value: modelId, label: modelId }));
  const parts = ['main', 'large', 'medium', 'small'] as const;
  return (
    <div className="connect">
      <div className="fields">
        <SelectField
          label={t.connect.tool}
          value={tool}
          options={titles}
          onChange={(value) => setTool(value as ToolName)}
        />
        {parts.map((part) => (
          <SelectField
            key={part}
            label={t.connect.parts[part]}
            value={choice[part] ?? choice.main}
            options={modelOptions}
            onChange={(value) => setChoice({ ...choice, [part]: value })}
          />
        ))}
      </div>
      {forProjects ? (
        <Choice
          label={t.connect.scope}
          value={scope}
          options={[
            { value: 'user', label: t.connect.scopeUser },
            { value: 'project', label: t.connect.scopeProject },
          ]}
          onChange={(value) => setScope(value as Scope)}
        />
      ) : null}
      {apiKey === undefined ? <Banner>{t.connect.placeholder}</Banner> : null}
      <OneCommand
        tool={tool}
        title={connection.title}
        writes={connection.files.length > 0}
        scope={forProjects ? scope : 'user'}
        apiKey={apiKey}
        models={choice}
        usual={usual}
      />
      {folded ? (
        <details>
          <summary>{t.connect.manually}</summary>
          <ConnectionView connection={connection} />
        </details>
      ) : (
        <>
          <h3>{t.connect.manually}</h3>
          <ConnectionView connection={connection} />
        </>
      )}
    </div>
  );
}

/** The files, variables and commands. `brief` leaves out notes for later. */
export function ConnectionView({ connection, brief = false }: { connection: Connection; brief?: boolean }) {
  const { t, locale } = useLanguage();
  const advice = (sentence: string) => adviceIn(locale, sentence);
  const { title, baseUrl, files, environment, commands, code, steps, notes } = connection;
  const exports = environment.map(({ name, value }) => `export ${name}=${shellWord(value)}`).join('\n');
  return (
    <div className="connection" aria-live="polite">
      <p>
        {t.connect.baseUrl}: <code>{baseUrl}</code>
      </p>
      {files.map(({ path, content, holdsKey }) => (
        <div key={path}>
          <h3>
            <code>{path}</code> {holdsKey ? <Badge tone="warn">{t.connect.holdsKey}</Badge> : null}
          </h3>
          <Code text={content} what={fill(t.connect.fileOf, { path, title })} title={path} />
        </div>
      ))}
      {steps.length === 0 ? null : (
        <>
          <h3>{files.length > 0 ? t.connect.afterFiles : t.connect.steps}</h3>
          <ol>
            {steps.map((step) => (
              <li key={step}>{advice(step)}</li>
            ))}
          </ol>
        </>
      )}
      {exports === '' || (brief && files.length > 0) ? null : files.length > 0 ? (
        <details>
          <summary>{t.connect.insteadOfFiles}</summary>
          <Code text={exports} what={`${title}: ${t.connect.environment}`} title={t.connect.environment} />
        </details>
      ) : (
        <Code text={exports} what={`${title}: ${t.connect.environment}`} title={t.connect.environment} />
      )}
      {commands.length === 0 ? null : (
        <>
          <h3>{t.connect.commands}</h3>
          <Code text={commands.join('\n')} what={`${title}: ${t.connect.commands}`} />
        </>
      )}
      {code.map(({ language, text }) => (
        <Code key={`${language}${text.length}`} text={text} what={`${title}: ${language}`} title={language} />
      ))}
      {notes.length === 0 || brief ? null : (
        <>
          <h3>{t.connect.notes}</h3>
          <ul>
            {notes.map((note) => (
              <li key={note}>{advice(note)}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

const shellWord = (value: string) => (/^[\w./:@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`);
