import { Link } from 'wouter';
import { Page } from '../components/page.tsx';
import { Empty } from '../components/states.tsx';
import { useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useMaybeSession } from '../session.tsx';

/** The page of an address that leads nowhere. */

export function NotFound() {
  const { t } = useLanguage();
  const session = useMaybeSession();
  return (
    <div className="nowhere">
      <p className="number" aria-hidden="true">
        404
      </p>
      <Page title={t.nothing.notFound}>
        <p className="lead">{t.nothing.notFoundText}</p>
        <div className="actions">
          <Link href={pages.home} className="button primary">
            {session === null ? t.nothing.start : t.nothing.home}
          </Link>
          <a href="/status" className="button">
            {t.nav.status}
          </a>
        </div>
      </Page>
    </div>
  );
}

/**
 * The pages for a missing address, and for people without an account: operators, and people who were removed from their
 * only one.
 */
export function NoAccount() {
  const { t } = useLanguage();
  return (
    <Page title={t.nothing.noAccount}>
      <Empty title={t.nothing.noAccountText} />
    </Page>
  );
}
