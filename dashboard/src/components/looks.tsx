import { useAsk } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { useAbilities, useAccount } from '../session.tsx';
import { Moment } from './moment.tsx';
import { Card } from './page.tsx';

/** When operators looked at the account's pages, for those who manage its members; left out when they never did. */
export function Looks() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const { members } = useAbilities();
  const looks = useAsk({
    key: ['looks', accountId],
    ask: (steyg, signal) => steyg.console.accounts.operatorViews({ accountId }, { signal }),
    when: members,
  });
  if (looks.data == null || looks.data.length === 0) return null;
  return (
    <Card title={t.look.title}>
      <p className="hint">{t.look.hint}</p>
      <ul>
        {looks.data.map(({ at }) => (
          <li key={at}>
            <Moment at={at} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
