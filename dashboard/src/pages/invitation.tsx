import { Link, useLocation, useSearchParams } from 'wouter';
import { Button } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { FailureNotice } from '../components/states.tsx';
import { useChange } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useSession } from '../session.tsx';

/** The page of an invitation's link, for a person who is signed in with the invited address. */
export default function Invitation() {
  const { t } = useLanguage();
  const [search] = useSearchParams();
  const { person, chooseAccount } = useSession();
  const [, go] = useLocation();
  const accept = useChange({
    change: (steyg, token: string) => steyg.console.accounts.acceptInvitation({ token }),
    refresh: [['viewer']],
    done: ({ id }) => {
      chooseAccount(id);
      go(pages.home, { replace: true });
    },
  });
  return (
    <div className="narrow">
      <Page title={t.invitation.title} lead={fill(t.invitation.lead, { email: person.email })}>
        {accept.error === null ? null : <FailureNotice error={accept.error} />}
        <div className="actions">
          <Link className="button" href={pages.home}>
            {t.common.cancel}
          </Link>
          <Button look="primary" busy={accept.isPending} onClick={() => accept.mutate(search.get('token') ?? '')}>
            {t.invitation.action}
          </Button>
        </div>
      </Page>
    </div>
  );
}
