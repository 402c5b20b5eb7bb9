/** The entrance of the dashboard: theme, providers, first render. */

import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createSteygClient } from './client.ts';
import { Boundary } from './components/boundary.tsx';
import { ToastProvider } from './components/toasts.tsx';
import { createQueryClient, SteygProvider } from './data.tsx';
import { LanguageProvider, loadTexts, preferredLocale } from './language/language.tsx';
import { applyTheme, chosenTheme } from './theme.tsx';
import './style.css';

applyTheme(chosenTheme());

async function start(): Promise<void> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('the page has no root');
  const locale = preferredLocale();
  const texts = await loadTexts(locale);
  createRoot(root).render(
    <StrictMode>
      <LanguageProvider initial={{ locale, texts }}>
        <Boundary>
          <QueryClientProvider client={createQueryClient()}>
            <SteygProvider steyg={createSteygClient(location.origin)}>
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

void start();
