import { usePages } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { useAbilities, useAccount } from '../session.tsx';
import { Moment } from './moment.tsx';
import { Fold } from './page.tsx';
import { More } from './states.tsx';

/** When operators looked at the account's pages, for those who manage its members; left out when they never did. */
export function Looks() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const { members } = useAbilities();
  const looks = usePages({
    key: ['looks', accountId],
    ask: (steyg, after, signal) => steyg.console.accounts.operatorViews({ accountId, after, first: 20 }, { signal }),
    when: members,
  });
  if (looks.data === undefined || looks.data.length === 0) return null;
  return (
    <Fold title={t.look.title} state={<Moment at={looks.data[0]?.at ?? ''} />}>
      <p className="hint">{t.look.hint}</p>
      <ul>
        {looks.data.map(({ at }) => (
          <li key={at}>
            <Moment at={at} />
          </li>
        ))}
      </ul>
      <More query={looks} />
    </Fold>
  );
}
