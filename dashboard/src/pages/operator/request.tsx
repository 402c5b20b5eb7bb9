/** The receipt of a customer's request, as operators open it from any list. */

import { Link } from 'wouter';
import { Page } from '../../components/page.tsx';
import { RequestReceipt } from '../../components/request-receipt.tsx';
import { Loaded } from '../../components/states.tsx';
import { useAsk } from '../../data.tsx';
import { usePart } from '../../hooks.ts';
import { useOperatorLanguage } from '../../language/language.tsx';
import { pages, pathTo } from '../../pages.ts';

export default function RequestPage() {
  const { t } = useOperatorLanguage();
  const [id, requestId] = [usePart('id'), usePart('requestId')];
  const entry = useAsk({
    key: ['operator', 'entry', id, requestId],
    ask: (steyg, signal) => steyg.console.operator.accountEntry({ id, requestId }, { signal }),
  });
  return (
    <Page
      title={t.entry.title}
      lead={<Link href={pathTo(pages.operatorAccount, { id })}>{`← ${t.operator.account}`}</Link>}
    >
      <Loaded query={entry}>{(found) => <RequestReceipt entry={found} elsewhere />}</Loaded>
    </Page>
  );
}
