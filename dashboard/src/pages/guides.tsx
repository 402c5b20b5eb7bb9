/** Quick starts: one short page for each tool and language, before the reference. */

import type { ModelsAnswer } from '@steyg/sdk';
import { chooseModels } from '@steyg/sdk/connect';
import { Link } from 'wouter';
import { useAttributionTexts } from '../attribution-texts.ts';
import { ConnectionView, catalogOf } from '../components/connect-panel.tsx';
import { Code } from '../components/copy.tsx';
import { OneCommand } from '../components/one-command.tsx';
import { Page } from '../components/page.tsx';
import { Empty, Loaded, LoadingSkeleton } from '../components/states.tsx';
import { Step } from '../components/step.tsx';
import { useAsk, useOrigin, useSdkPackage } from '../data.tsx';
import {
  type GuideName,
  graphqlCommand,
  guideConnection,
  guideNames,
  guideQuery,
  sdkProgram,
  statusLineFiles,
  statusLineScript,
  statusLineSettings,
} from '../guides.ts';
import { usePart } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages, pathTo } from '../pages.ts';
import { useMaybeSession } from '../session.tsx';
import { NotFound } from './nothing.tsx';

export default function Guides() {
  const name = usePart('name') || 'curl';
  const guide = guideNames.find((each) => each === name);
  return guide === undefined ? <NotFound /> : <Guide guide={guide} />;
}

function Guide({ guide }: { guide: GuideName }) {
  const { t, locale } = useLanguage();
  const title = t.guides.names[guide];
  return (
    <Page
      title={fill(t.guides.titleOf, { tool: title })}
      lead={t.guides.lead}
      actions={
        <a className="button" href="/api/docs">
          {t.nav.reference}
        </a>
      }
    >
      <nav className="tabs" aria-label={t.guides.title}>
        {guideNames.map((name) => (
          <Link key={name} href={pathTo(pages.guide, { name })} aria-current={name === guide ? 'page' : undefined}>
            {t.guides.names[name]}
          </Link>
        ))}
      </nav>
      <ol className="steps">
        {guide === 'graphql' ? <TokenStep /> : <KeyStep />}
        <UseStep guide={guide} />
        {guide === 'claude-code' ? <StatusLineStep /> : null}
        <Step number={guide === 'claude-code' ? 4 : 3} title={t.guides.next} done={false}>
          <ul>
            <li>
              <Link href={pages.models}>{t.nav.models}</Link>
            </li>
            <li>
              <a href="/api/docs">{t.nav.reference}</a>
            </li>
            <li>
              <a href={guide === 'graphql' ? '/graphql' : `/status?lang=${locale}`}>
                {guide === 'graphql' ? t.guides.explorer : t.nav.status}
              </a>
            </li>
          </ul>
        </Step>
      </ol>
    </Page>
  );
}

function KeyStep() {
  const { t } = useLanguage();
  const signedIn = useMaybeSession() !== null;
  return (
    <Step number={1} title={t.start.key} done={false}>
      <p>{t.guides.keyText}</p>
      <p>
        <Link className="button small" href={signedIn ? pages.keys : pages.signUp}>
          {signedIn ? t.nav.keys : t.landing.begin}
        </Link>
      </p>
    </Step>
  );
}

function TokenStep() {
  const { t } = useLanguage();
  const signedIn = useMaybeSession() !== null;
  return (
    <Step number={1} title={t.guides.token} done={false}>
      <p>{t.guides.tokenText}</p>
      <p>
        <Link className="button small" href={signedIn ? pages.security : pages.signUp}>
          {signedIn ? t.nav.security : t.landing.begin}
        </Link>
      </p>
    </Step>
  );
}

function UseStep({ guide }: { guide: GuideName }) {
  const { t } = useLanguage();
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  return (
    <Step number={2} title={t.guides.use} done={false}>
      <Loaded query={models} skeleton={<LoadingSkeleton height="20rem" />}>
        {(list) => (list.length === 0 ? <Empty title={t.models.empty} /> : <Use guide={guide} models={list} />)}
      </Loaded>
    </Step>
  );
}

/** Shows what the session has cost, below the prompt of Claude Code. */
function StatusLineStep() {
  const texts = useAttributionTexts();
  const origin = useOrigin();
  return (
    <Step number={3} title={texts.statusLine} done={false}>
      <p>{texts.statusLineText}</p>
      <Code text={statusLineScript(origin)} what={texts.statusLine} title={statusLineFiles.script} />
      <Code text={statusLineSettings} what={texts.statusLine} title={statusLineFiles.settings} />
    </Step>
  );
}

function Use({ guide, models }: { guide: GuideName; models: NonNullable<ModelsAnswer> }) {
  const { t } = useLanguage();
  const catalog = catalogOf(models);
  const choice = chooseModels(catalog);
  const origin = useOrigin();
  const sdk = useSdkPackage();
  const title = t.guides.names[guide];
  const connection = guideConnection(guide, { origin, models: choice, catalog });
  if (connection === null) {
    return guide === 'graphql' ? (
      <div className="connection">
        <p>{t.guides.graphqlText}</p>
        <Code text={guideQuery} what={t.guides.query} title={t.guides.query} />
        <Code text={graphqlCommand(origin)} what={t.connect.commands} title={t.guides.names.curl} />
      </div>
    ) : (
      <div className="connection">
        <p>{t.guides.sdkText}</p>
        <Code text={`npm install ${sdk}`} what={t.connect.commands} />
        <Code text={sdkProgram(origin, choice.main)} what={title} title={t.guides.names.typescript} />
      </div>
    );
  }
  const writes = connection.files.length > 0;
  return (
    <div className="connect">
      {writes ? (
        <OneCommand
          tool={connection.tool}
          title={title}
          writes={writes}
          scope="user"
          apiKey={undefined}
          models={choice}
          usual={choice}
        />
      ) : null}
      {writes ? <h3>{t.connect.manually}</h3> : null}
      <ConnectionView connection={{ ...connection, title }} brief />
    </div>
  );
}
