import { lazy, Suspense, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { Icon, type IconName } from './components/icon.tsx';
import { OperatorLanguageProvider, useLanguage } from './language/language.tsx';
import type { Texts } from './language/texts.ts';
import { pages } from './pages.ts';
import { useSession } from './session.tsx';
import { isHere } from './shell.tsx';

/** The operator's part of the frame: workspaces, navigation and search. Loaded for operators alone. */

type NavName = keyof Texts['nav'];

interface Section {
  name: NavName;
  icon: IconName;
  /** Its pages; the first one that the role opens is where the entry leads. */
  pages: readonly Tab[];
}

/** A page, its name, and whose it is: of those who handle money, or of owners. Left out: every operator's. */
type Tab = readonly [string, NavName, ('money' | 'owner')?];

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
      [pages.operatorCodes, 'operatorCodes'],
    ],
  },
  {
    name: 'models',
    icon: 'models',
    pages: [
      [pages.operatorCatalog, 'operatorCatalog'],
      [pages.operatorVendors, 'operatorVendors', 'owner'],
      [pages.operatorUpstreams, 'operatorUpstreams'],
    ],
  },
  {
    name: 'operatorRevenue',
    icon: 'activity',
    pages: [
      [pages.operatorRevenue, 'operatorRevenue', 'money'],
      [pages.operatorBooks, 'operatorBooks'],
      [pages.operatorBills, 'operatorBills', 'money'],
    ],
  },
  { name: 'operatorUptime', icon: 'bell', pages: [[pages.operatorUptime, 'operatorUptime']] },
  { name: 'operatorAudit', icon: 'shield', pages: [[pages.operatorAudit, 'operatorAudit']] },
  {
    name: 'settings',
    icon: 'settings',
    pages: [
      [pages.operatorService, 'operatorService', 'owner'],
      [pages.operatorSeller, 'operatorSeller', 'owner'],
      [pages.operatorNotices, 'notices', 'owner'],
      [pages.operatorTeam, 'operatorTeam'],
    ],
  },
];

/** The way between the two workspaces: the business, and the operator's own account. */
export function Workspaces({ atWork }: { atWork: boolean }) {
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

/** The sections with the pages that the operator's role opens. */
function useSections(): readonly Section[] {
  const role = useSession().operator?.role;
  const opens = ([, , whose]: Tab) =>
    whose === undefined || role === 'OWNER' || (whose === 'money' && role === 'FINANCE');
  return operatorSections
    .map((section) => ({ ...section, pages: section.pages.filter(opens) }))
    .filter(({ pages: tabs }) => tabs.length > 0);
}

const sectionOf = (sections: readonly Section[], path: string): Section | undefined =>
  sections.find((section) => section.pages.some(([href]) => isHere(path, href)));

/** What the role of somebody below an owner includes, and who does the rest. */
function RoleNote() {
  const { t } = useLanguage();
  const role = useSession().operator?.role;
  if (role !== 'FINANCE' && role !== 'SUPPORT') return null;
  return <p className="nav-note hint">{role === 'FINANCE' ? t.nav.financeNote : t.nav.supportNote}</p>;
}

/** A section of one page is called what the page is. */
const nameOf = ({ name, pages: tabs }: Section): NavName => (tabs.length === 1 ? (tabs[0]?.[1] ?? name) : name);

export function OperatorNav({ path }: { path: string }) {
  const { t } = useLanguage();
  const sections = useSections();
  const here = sectionOf(sections, path);
  return (
    <div className="nav-group">
      <ul aria-label={t.nav.operator}>
        {sections.map((section) => (
          <li key={section.name}>
            <Link href={section.pages[0]?.[0] ?? pages.operator} aria-current={section === here ? 'page' : undefined}>
              <Icon name={section.icon} />
              {t.nav[nameOf(section)]}
            </Link>
          </li>
        ))}
      </ul>
      <RoleNote />
    </div>
  );
}

export function SectionTabs({ path }: { path: string }) {
  const { t } = useLanguage();
  const section = sectionOf(useSections(), path);
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
export function SearchButton() {
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
