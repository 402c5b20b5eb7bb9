import { Link } from 'wouter';
import { Page } from '../components/page.tsx';
import { RequestReceipt } from '../components/request-receipt.tsx';
import { Loaded } from '../components/states.tsx';
import { useAsk } from '../data.tsx';
import { usePart } from '../hooks.ts';
import { useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useAccount } from '../session.tsx';

/** The receipt of one request: its cost can be recomputed from the figures shown. */
export default function EntryPage() {
  const { t } = useLanguage();
  const requestId = usePart('requestId');
  const { id: accountId } = useAccount();
  const entry = useAsk({
    key: ['entry', accountId, requestId],
    ask: (steyg, signal) => steyg.console.ledger.entry({ accountId, requestId }, { signal }),
  });
  return (
    <Page title={t.entry.title} lead={<Link href={pages.activity}>{t.entry.back}</Link>}>
      <Loaded query={entry}>{(found) => <RequestReceipt entry={found} />}</Loaded>
    </Page>
  );
}
