import { onlineManager } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { Choice } from './components/field.tsx';
import { Icon, type IconName } from './components/icon.tsx';
import { SellerFoot, useSeller } from './components/seller-foot.tsx';
import { Banner } from './components/states.tsx';
import { useAsk, useChange } from './data.tsx';
import { fill, OperatorLanguageProvider, useLanguage } from './language/language.tsx';
import type { Texts } from './language/texts.ts';
import { pages } from './pages.ts';
import { useForget, useMaybeSession, useSession } from './session.tsx';
import { chooseTheme, type Theme, useTheme } from './theme.tsx';

/** The frame around every page: menu, language, theme, banners. */

type NavName = keyof Texts['nav'];

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
      [pages.activity, 'activity', 'activity'],
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

interface Section {
  name: NavName;
  icon: IconName;
  /** Its pages; the first one is where the entry leads. */
  pages: readonly (readonly [string, NavName])[];
}

/** The operator's workspace: one entry for each part of the business, with its pages as tabs. */
const operatorSections: readonly Section[] = [
  { name: 'operatorHome', icon: 'overview', pages: [[pages.operator, 'operatorHome']] },
  { name: 'operatorAccounts', icon: 'people', pages: [[pages.operatorAccounts, 'operatorAccounts']] },
  {
    name: 'operatorPayments',
    icon: 'wallet',
    pages: [
      [pages.operatorTransfers, 'operatorTransfers'],
      [pages.operatorOrders, 'operatorOrders'],
      [pages.operatorPlans, 'operatorPlans'],
    ],
  },
  {
    name: 'models',
    icon: 'models',
    pages: [
      [pages.operatorCatalog, 'operatorCatalog'],
      [pages.operatorVendors, 'operatorVendors'],
      [pages.operatorUpstreams, 'operatorUpstreams'],
    ],
  },
  {
    name: 'operatorRevenue',
    icon: 'activity',
    pages: [
      [pages.operatorRevenue, 'operatorRevenue'],
      [pages.operatorBooks, 'operatorBooks'],
    ],
  },
  { name: 'operatorUptime', icon: 'bell', pages: [[pages.operatorUptime, 'operatorUptime']] },
  { name: 'operatorAudit', icon: 'shield', pages: [[pages.operatorAudit, 'operatorAudit']] },
  { name: 'operatorSeller', icon: 'settings', pages: [[pages.operatorSeller, 'operatorSeller']] },
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
  );
}

/** Language and theme. Signed in, the language is also that of the mails. */
export function Preferences() {
  const { t, locale, choose } = useLanguage();
  const theme = useTheme();
  const session = useMaybeSession();
  const save = useChange({
    change: (steyg, next: string) => steyg.console.people.updateProfile({ locale: next }),
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
  return (
    <div className="public">
      <SkipLink />
      <header className="public-head">
        <Link href={pages.home} aria-label="Steyg">
          <Logo />
        </Link>
        <nav aria-label={t.nav.main}>
          <a href={`/pricing?lang=${locale}`}>{t.nav.pricing}</a>
          <a href="/status">{t.nav.status}</a>
          <a href="/api/docs">{t.nav.reference}</a>
          <Link href={pages.signIn}>{t.nav.signIn}</Link>
          <Link href={pages.signUp} className="button primary small">
            {t.nav.signUp}
          </Link>
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

/** A banner on every page while nothing is really sold. */
function Demonstration() {
  const { t } = useLanguage();
  const shop = useAsk({ key: ['shop'], ask: (steyg, signal) => steyg.console.orders.shop({}, { signal }) });
  return shop.data?.demonstration === true ? <Banner tone="warn">{t.common.demonstration}</Banner> : null;
}

export function Shell({ children }: { children: ReactNode }) {
  const { t } = useLanguage();
  const { account, person } = useSession();
  const [path] = useLocation();
  const [open, setOpen] = useState(false);
  // A navigation closes the menu.
  useEffect(() => setOpen(false), [path]);
  // An operator's menu is longer than a window: the current entry must be visible. `path` triggers the scroll.
  useEffect(() => {
    if (path !== '') document.querySelector('#side [aria-current="page"]')?.scrollIntoView({ block: 'nearest' });
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
        {person.operator ? <Workspaces atWork={atWork} /> : null}
        {atWork ? <SearchButton /> : <AccountChoice />}
        <nav aria-label={t.nav.main}>
          {atWork ? <OperatorNav path={path} /> : null}
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
                <a href="/api/docs">
                  <Icon name="external" />
                  {t.nav.reference}
                </a>
              </li>
            </ul>
          </div>
        </nav>
        <Who />
      </aside>
      <main id="content" tabIndex={-1}>
        <Offline />
        <Demonstration />
        {account?.status === 'SUSPENDED' ? <Suspended /> : null}
        {atWork ? <SectionTabs path={path} /> : null}
        {atWork && !person.secondFactor ? (
          <Banner
            tone="warn"
            action={
              <Link href={pages.security} className="button small">
                {t.security.setUp}
              </Link>
            }
          >
            {t.security.operatorFirst}
          </Banner>
        ) : null}
        {account === null || atWork ? null : <BudgetBanner accountId={account.id} path={path} />}
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

/** The way between the two workspaces: the business, and the operator's own account. */
function Workspaces({ atWork }: { atWork: boolean }) {
  const { t } = useLanguage();
  return (
    <nav className="workspaces" aria-label={t.nav.workspaces}>
      <Link href={pages.operator} aria-current={atWork ? 'true' : undefined}>
        {t.nav.operator}
      </Link>
      <Link href={pages.home} aria-current={atWork ? undefined : 'true'}>
        {t.nav.account}
      </Link>
    </nav>
  );
}

function sectionOf(path: string): Section | undefined {
  return operatorSections.find((section) => section.pages.some(([href]) => isHere(path, href)));
}

function OperatorNav({ path }: { path: string }) {
  const { t } = useLanguage();
  const here = sectionOf(path);
  return (
    <div className="nav-group">
      <ul aria-label={t.nav.operator}>
        {operatorSections.map((section) => (
          <li key={section.name}>
            <Link href={section.pages[0]?.[0] ?? pages.operator} aria-current={section === here ? 'page' : undefined}>
              <Icon name={section.icon} />
              {t.nav[section.name]}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function SectionTabs({ path }: { path: string }) {
  const { t } = useLanguage();
  const section = sectionOf(path);
  if (section === undefined || section.pages.length < 2) return null;
  return (
    <nav className="tabs" aria-label={t.nav[section.name]}>
      {section.pages.map(([href, name]) => (
        <Link key={href} href={href} aria-current={isHere(path, href) ? 'page' : undefined}>
          {t.nav[name]}
        </Link>
      ))}
    </nav>
  );
}

/** Loaded at its first use. */
const Palette = lazy(() => import('./components/palette.tsx'));

/** Opens the search over everything, also by ⌘K or Ctrl K. */
function SearchButton() {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button type="button" className="button small" aria-keyshortcuts="Meta+K Control+K" onClick={() => setOpen(true)}>
        {t.nav.search} <kbd aria-hidden="true">⌘K</kbd>
      </button>
      {open ? (
        <Suspense fallback={null}>
          <OperatorLanguageProvider>
            <Palette onClose={() => setOpen(false)} />
          </OperatorLanguageProvider>
        </Suspense>
      ) : null}
    </>
  );
}

function isHere(path: string, href: string): boolean {
  return href === pages.home || href === pages.operator ? path === href : path === href || path.startsWith(`${href}/`);
}

/** A banner on every page without its own hint: nothing works without budget. */
function BudgetBanner({ accountId, path }: { accountId: string; path: string }) {
  const { t } = useLanguage();
  const { data } = useAsk({
    key: ['budget', accountId],
    ask: (steyg, signal) => steyg.console.ledger.budget({ accountId }, { signal }),
    every: 30_000,
  });
  const isOver = data !== undefined && data !== null && Number(data.free) <= 0 && Number(data.held) <= 0;
  if (!isOver || path === pages.topUp || path.startsWith('/orders/') || path.startsWith('/operator')) return null;
  return (
    <Banner
      tone="warn"
      action={
        <Link href={pages.topUp} className="button primary small">
          {t.nav.topUp}
        </Link>
      }
    >
      {t.overview.exhausted}
    </Banner>
  );
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
      void forget();
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
