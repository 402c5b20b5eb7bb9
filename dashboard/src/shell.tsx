import { onlineManager } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { BudgetBanner, useBudgetState } from './components/budget-banner.tsx';
import { Choice } from './components/field.tsx';
import { Icon, type IconName } from './components/icon.tsx';
import { SellerFoot, useSeller } from './components/seller-foot.tsx';
import { SetUpSecondFactor } from './components/set-up-second-factor.tsx';
import { Banner } from './components/states.tsx';
import { useAsk, useChange } from './data.tsx';
import { fill, useLanguage } from './language/language.tsx';
import type { Texts } from './language/texts.ts';
import { pages } from './pages.ts';
import { useForget, useMaybeSession, useSession } from './session.tsx';
import { useSignInMethods } from './sign-in-methods.ts';
import { chooseTheme, type Theme, useTheme } from './theme.tsx';

/** The frame around every page: menu, language, theme, banners. */

type NavName = keyof Texts['nav'];

/** Loaded for operators alone: a customer's first visit does not wait for it. */
const LookBanner = lazy(() => import('./components/look-banner.tsx'));
const Workspaces = lazy(async () => ({ default: (await import('./operator-frame.tsx')).Workspaces }));
const OperatorNav = lazy(async () => ({ default: (await import('./operator-frame.tsx')).OperatorNav }));
const SectionTabs = lazy(async () => ({ default: (await import('./operator-frame.tsx')).SectionTabs }));
const SearchButton = lazy(async () => ({ default: (await import('./operator-frame.tsx')).SearchButton }));

const groups: readonly { title: NavName; items: readonly (readonly [string, NavName, IconName])[] }[] = [
  {
    title: 'use',
    items: [
      [pages.home, 'overview', 'overview'],
      [pages.playground, 'playground', 'chat'],
      [pages.connect, 'connect', 'plug'],
      [pages.models, 'models', 'models'],
    ],
  },
  {
    title: 'account',
    items: [
      [pages.keys, 'keys', 'key'],
      [pages.projects, 'projects', 'folder'],
      [pages.activity, 'activity', 'activity'],
      [pages.batches, 'batches', 'layers'],
      [pages.topUp, 'topUp', 'wallet'],
      [pages.notices, 'notices', 'bell'],
      [pages.members, 'members', 'people'],
    ],
  },
  {
    title: 'you',
    items: [
      [pages.security, 'security', 'shield'],
      [pages.settings, 'settings', 'settings'],
    ],
  },
];

function Logo() {
  return (
    <span className="logo">
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="7" />
        <path d="M7 24v-5h6v-6h6V7h6" />
      </svg>
      Steyg
    </span>
  );
}

function SkipLink() {
  const { t } = useLanguage();
  return (
    <a className="skip" href="#content">
      {t.common.skip}
    </a>
  );
}

function useOnline(): boolean {
  return useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
    () => true,
  );
}

/** Language and theme. Signed in, the language is also that of the mails. */
export function Preferences() {
  const { t, locale, choose } = useLanguage();
  const theme = useTheme();
  const session = useMaybeSession();
  const save = useChange({
    change: (steyg, next: string) => steyg.console.people.updateProfile({ language: next === 'vi' ? 'VI' : 'EN' }),
    refresh: [['viewer']],
  });
  return (
    <div className="preferences">
      <Choice
        label={t.common.language}
        value={locale}
        options={[
          { value: 'vi', label: 'Tiếng Việt' },
          { value: 'en', label: 'English' },
        ]}
        onChange={(next) => {
          choose(next === 'vi' ? 'vi' : 'en');
          if (session !== null) save.mutate(next);
        }}
      />
      <Choice
        label={t.common.theme}
        value={theme}
        options={[
          { value: 'system', label: t.common.themeSystem },
          { value: 'light', label: t.common.themeLight },
          { value: 'dark', label: t.common.themeDark },
        ]}
        onChange={(next) => chooseTheme(next as Theme)}
      />
    </div>
  );
}

export function PublicFrame({ children }: { children: ReactNode }) {
  const { t, locale } = useLanguage();
  const { passwords } = useSignInMethods();
  return (
    <div className="public">
      <SkipLink />
      <header className="public-head">
        <Link href={pages.home} aria-label="Steyg">
          <Logo />
        </Link>
        <nav aria-label={t.nav.main}>
          <a href={`/pricing?lang=${locale}`}>{t.nav.pricing}</a>
          <a href={`/status?lang=${locale}`}>{t.nav.status}</a>
          <a href={`/docs?lang=${locale}`}>{t.nav.docs}</a>
          <Link href={pages.signIn}>{t.nav.signIn}</Link>
          {passwords ? (
            <Link href={pages.signUp} className="button primary small">
              {t.nav.signUp}
            </Link>
          ) : null}
        </nav>
      </header>
      <Offline />
      <Demonstration />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer className="public-foot">
        <SellerFoot />
        <Preferences />
      </footer>
    </div>
  );
}

function Offline() {
  const { t } = useLanguage();
  return useOnline() ? null : (
    <Banner tone="warn" icon="offline">
      {t.common.offline}
    </Banner>
  );
}

/** Whether anything is sold, and for real money. */
export function useShop() {
  return useAsk({ key: ['shop'], ask: (steyg, signal) => steyg.console.orders.shop({}, { signal }) });
}

/** A banner on every page while nothing is really sold. */
function Demonstration() {
  const { t } = useLanguage();
  const shop = useShop();
  return shop.data?.demonstration === true ? <Banner tone="warn">{t.common.demonstration}</Banner> : null;
}

export function Shell({ children }: { children: ReactNode }) {
  const { t, locale } = useLanguage();
  const { account, person, twoFactors, viewUntil } = useSession();
  const [path] = useLocation();
  const [open, setOpen] = useState(false);
  // A navigation closes the menu.
  useEffect(() => setOpen(false), [path]);
  // An operator's menu is longer than a window: the current entry must be visible. `path` triggers the scroll.
  useEffect(() => {
    const side = document.querySelector('#side');
    const current = side?.querySelector('[aria-current="page"]')?.getBoundingClientRect();
    if (path === '' || side == null || current === undefined) return;
    // Not by `scrollIntoView`: the next Tab would begin there, behind the link that skips the menu.
    const { top, bottom } = side.getBoundingClientRect();
    side.scrollTop += Math.max(0, current.bottom - bottom) - Math.max(0, top - current.top);
  }, [path]);
  useEffect(() => {
    if (!open) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setOpen(false);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [open]);
  const shown = account === null ? groups.slice(2) : groups;
  const atWork = person.operator && path.startsWith(pages.operator);
  // Its banner would move the page when it comes late.
  const budget = useBudgetState(account?.id ?? null);
  const isKnown = useRef('');
  if (account !== null && !budget.isLoading) isKnown.current = account.id;
  return (
    <div className="shell">
      <SkipLink />
      <header className="bar">
        <Link href={pages.home} aria-label={`Steyg: ${t.nav.overview}`}>
          <Logo />
        </Link>
        <button
          type="button"
          className="icon-button menu-button"
          aria-expanded={open}
          aria-controls="side"
          aria-label={t.nav.menu}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'close' : 'menu'} />
        </button>
      </header>
      <aside id="side" className={open ? 'side open' : 'side'} aria-label={t.nav.menu}>
        <Link href={pages.home} className="side-logo" aria-label={`Steyg: ${t.nav.overview}`}>
          <Logo />
        </Link>
        {person.operator ? (
          <Suspense fallback={null}>
            <Workspaces atWork={atWork} />
            {atWork ? <SearchButton /> : null}
          </Suspense>
        ) : null}
        {atWork ? null : <AccountChoice />}
        <nav aria-label={t.nav.main}>
          {atWork ? (
            <Suspense fallback={null}>
              <OperatorNav path={path} />
            </Suspense>
          ) : null}
          {(atWork ? [] : shown).map(({ title, items }) => (
            <div key={title} className="nav-group">
              <h2 id={`nav-${title}`}>{t.nav[title]}</h2>
              <ul aria-labelledby={`nav-${title}`}>
                {items.map(([href, name, icon]) => (
                  <li key={href}>
                    <Link href={href} aria-current={isHere(path, href) ? 'page' : undefined}>
                      <Icon name={icon} />
                      {t.nav[name]}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
          <div className="nav-group">
            <ul aria-label={t.nav.more}>
              <li>
                <a href="/status">
                  <Icon name="external" />
                  {t.nav.status}
                </a>
              </li>
              <li>
                <Link href={pages.guides} aria-current={isHere(path, pages.guides) ? 'page' : undefined}>
                  <Icon name="book" />
                  {t.nav.guides}
                </Link>
              </li>
              <li>
                <a href={`/docs?lang=${locale}`}>
                  <Icon name="external" />
                  {t.nav.docs}
                </a>
              </li>
            </ul>
          </div>
        </nav>
        <Who />
      </aside>
      <main
        id="content"
        tabIndex={-1}
        data-waiting={budget.isLoading && !atWork && isKnown.current !== account?.id ? '' : undefined}
      >
        <Offline />
        {viewUntil === null ? null : (
          <Suspense fallback={null}>
            <LookBanner account={account?.name ?? ''} until={viewUntil} />
          </Suspense>
        )}
        <Demonstration />
        {account?.status === 'SUSPENDED' ? <Suspended /> : null}
        {atWork ? (
          <Suspense fallback={null}>
            <SectionTabs path={path} />
          </Suspense>
        ) : null}
        {atWork && !twoFactors ? (
          <Banner tone="warn" action={<SetUpSecondFactor />}>
            {t.security.operatorFirst}
          </Banner>
        ) : null}
        {account === null || atWork ? null : <BudgetBanner state={budget} path={path} />}
        {children}
        <SellerFoot />
      </main>
    </div>
  );
}

/** Says that the account is suspended, and whom to ask. */
function Suspended() {
  const { t } = useLanguage();
  const seller = useSeller();
  const contact = [seller?.supportEmail, seller?.supportPhone].filter(Boolean).join(' · ');
  return (
    <Banner tone="bad">
      {t.common.suspended} {contact === '' ? null : fill(t.seller.ask, { contact })}
    </Banner>
  );
}

export function isHere(path: string, href: string): boolean {
  return href === pages.home || href === pages.operator ? path === href : path === href || path.startsWith(`${href}/`);
}

function AccountChoice() {
  const { t } = useLanguage();
  const { accounts, account, chooseAccount } = useSession();
  if (account === null || accounts.length < 2) {
    return account === null ? null : <p className="account-name">{account.name}</p>;
  }
  return (
    <label className="account-choice">
      <span className="sr-only">{t.nav.chooseAccount}</span>
      <select value={account.id} onChange={(event) => chooseAccount(event.target.value)}>
        {accounts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Who() {
  const { t } = useLanguage();
  const { person } = useSession();
  const forget = useForget();
  const [, go] = useLocation();
  const signOut = useChange({
    change: (steyg, _input: undefined) => steyg.console.people.signOut(),
    done: () => {
      go(pages.home);
      void forget('signed-out');
    },
  });
  return (
    <div className="who">
      <Preferences />
      <div className="who-line">
        <p title={person.email}>{person.email}</p>
        <button type="button" className="button small" onClick={() => signOut.mutate(undefined)}>
          {t.nav.signOut}
        </button>
      </div>
    </div>
  );
}
