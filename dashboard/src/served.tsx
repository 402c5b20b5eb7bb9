/**
 * Public pages as the server sends them: with their content, in the visitor's language, before any script. Built into
 * one file of its own, which the server loads; the page's script then puts the live page in its stead.
 */

import type { SteygOptions } from '@steyg/sdk';
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ComponentType } from 'react';
import { renderToStaticMarkup } from 'react-dom/server.edge';
import { Route, Router } from 'wouter';
import { viewerKey } from './answers.ts';
import { createSteygClient } from './client.ts';
import ToolPanel from './components/tool-panel.tsx';
import { createQueryClient, SteygProvider } from './data.tsx';
import type { Locale } from './format.ts';
import { guideNames } from './guides.ts';
import { TitleContext } from './hooks.ts';
import { LanguageProvider, loadTexts } from './language/language.tsx';
import Guides from './pages/guides.tsx';
import Landing from './pages/landing.tsx';
import { pages, pathTo } from './pages.ts';
import { PublicFrame } from './shell.tsx';

const served: readonly (readonly [string, ComponentType])[] = [
  [pages.home, () => <Landing Tools={ToolPanel} />],
  [pages.guides, Guides],
  [pages.guide, Guides],
];

/** The addresses that are rendered; all others come as an empty page. */
export const addresses: readonly string[] = [
  pages.home,
  pages.guides,
  ...guideNames.map((name) => pathTo(pages.guide, { name })),
];

/** The visitor's time zone is unknown; most visitors are in Vietnam. The live page has their own. */
const timeZone = 'Asia/Ho_Chi_Minh';

/** Parts that ask for data appear when the data of the parts around them is there. */
const maxPasses = 4;

export interface Visit {
  /** The path of the address, without its query. */
  path: string;
  locale: Locale;
  /** The public address, without a trailing slash. */
  origin: string;
  /** The published package of the SDK; null: the server's own. */
  sdkPackage: string | null;
  /** Asks GraphQL for somebody without a session. */
  fetch: NonNullable<SteygOptions['fetch']>;
}

export interface ServedPage {
  title: string;
  description: string;
  markup: string;
  /** The answers that the page was made of, with their keys: the live page begins with them. */
  known: readonly (readonly [key: readonly unknown[], data: unknown])[];
}

/** Renders a page. Rejects when its data cannot be had. */
export async function renderPage(visit: Visit): Promise<ServedPage> {
  const { locale } = visit;
  const texts = await loadTexts(locale);
  const queries = createQueryClient();
  let title = '';
  const page = (
    <LanguageProvider initial={{ locale, texts }} timeZone={timeZone}>
      <QueryClientProvider client={queries}>
        <SteygProvider
          steyg={createSteygClient(visit.origin, visit.fetch)}
          origin={visit.origin}
          sdkPackage={visit.sdkPackage}
        >
          <TitleContext value={(text) => (title = text)}>
            <Router ssrPath={visit.path}>
              <PublicFrame>
                {served.map(([path, Of]) => (
                  <Route key={path} path={path}>
                    <Of />
                  </Route>
                ))}
              </PublicFrame>
            </Router>
          </TitleContext>
        </SteygProvider>
      </QueryClientProvider>
    </LanguageProvider>
  );
  let markup = renderToStaticMarkup(page);
  for (let pass = 1; (await answerAll(queries)) && pass < maxPasses; pass += 1) markup = renderToStaticMarkup(page);
  const known = queries.getQueryCache().getAll();
  return {
    title,
    description: texts.landing.lead,
    markup,
    known: [[viewerKey, null], ...known.map(({ queryKey, state }) => [queryKey, state.data] as const)],
  };
}

/** Asks what the page asked for and has no answer yet; false: nothing. */
async function answerAll(queries: QueryClient): Promise<boolean> {
  const open = queries
    .getQueryCache()
    .getAll()
    .filter(({ state }) => state.data === undefined);
  await Promise.all(open.map((query) => query.fetch()));
  return open.length > 0;
}
