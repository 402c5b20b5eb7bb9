/** The entrance of the dashboard: theme, providers, first render. */

import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createSteygClient } from './client.ts';
import { Boundary } from './components/boundary.tsx';
import { ToastProvider } from './components/toasts.tsx';
import { createQueryClient, SteygProvider } from './data.tsx';
import { watchingHistory } from './history-age.ts';
import { LanguageProvider, loadTexts, preferredLocale } from './language/language.tsx';
import { lookingFetch } from './looking.ts';
import { applyTheme, chosenTheme } from './theme.tsx';
import './style.css';

applyTheme(chosenTheme());

async function start(): Promise<void> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('the page has no root');
  const locale = preferredLocale();
  const texts = await loadTexts(locale);
  const queries = createQueryClient();
  learn(queries);
  takeOver(root);
  createRoot(root).render(
    <StrictMode>
      <LanguageProvider initial={{ locale, texts }}>
        <Boundary>
          <QueryClientProvider client={queries}>
            <SteygProvider
              steyg={createSteygClient(location.origin, watchingHistory(lookingFetch))}
              origin={location.origin}
              sdkPackage={document.querySelector<HTMLMetaElement>('meta[name="sdk-package"]')?.content ?? null}
            >
              <ToastProvider>
                <App />
              </ToastProvider>
            </SteygProvider>
          </QueryClientProvider>
        </Boundary>
      </LanguageProvider>
    </StrictMode>,
  );
}

/** Takes over the answers that the server made the page of. They are asked for again when they are no longer fresh. */
function learn(queries: QueryClient): void {
  const script = document.getElementById('known');
  if (script === null) return;
  const { at, known } = JSON.parse(script.textContent) as { at: number; known: [string[], unknown][] };
  script.remove();
  for (const [key, data] of known) queries.setQueryData(key, data, { updatedAt: Math.min(at, Date.now()) });
}

const focusable = 'a, button, input, select, textarea, [tabindex]';

/** Shows the live page in the stead of the one that the server sent, as soon as it has something to read. */
function takeOver(root: HTMLElement): void {
  const served = document.getElementById('served');
  if (served === null) return;
  const observer = new MutationObserver(() => {
    if (root.querySelector('main h1, main .banner.bad') === null) return;
    observer.disconnect();
    // The same page twice has the same elements in the same order, unless its language changed.
    const at = [...served.querySelectorAll(focusable)].indexOf(document.activeElement ?? served);
    served.remove();
    root.hidden = false;
    if (at !== -1) root.querySelectorAll<HTMLElement>(focusable)[at]?.focus({ preventScroll: true });
  });
  observer.observe(root, { childList: true, subtree: true });
}

void start();
