import { Link } from 'wouter';
import { Page } from '../components/page.tsx';
import { Empty } from '../components/states.tsx';
import { useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';

export function NotFound() {
  const { t } = useLanguage();
  return (
    <Page title={t.nothing.notFound}>
      <Empty
        title={t.nothing.notFoundText}
        action={
          <Link href={pages.home} className="button primary">
            {t.nothing.home}
          </Link>
        }
      />
    </Page>
  );
}

/** For operators without an account of their own, and for people who were removed from the only one they had. */
export function NoAccount() {
  const { t } = useLanguage();
  return (
    <Page title={t.nothing.noAccount}>
      <Empty title={t.nothing.noAccountText} />
    </Page>
  );
}
