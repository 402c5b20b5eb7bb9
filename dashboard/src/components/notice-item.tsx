/** One notice as people read it. */

import type { ListNoticesAnswer } from '@steyg/sdk';
import { fill, useLanguage } from '../language/language.tsx';
import { Badge } from './page.tsx';

type Notice = NonNullable<ListNoticesAnswer>['nodes'][number];

export function NoticeItem({ notice }: { notice: Notice }) {
  const { t, format } = useLanguage();
  const facts = (notice.facts ?? {}) as Record<string, string>;
  const text = (name: string) => facts[name] ?? '';
  const usd = (name: string) => format.usdTile(facts[name] ?? '0');
  const moment = (name: string) => (facts[name] === undefined ? '' : format.dateTime(facts[name]));
  // What a message of recovery is about.
  const ended = (t.channels.kindNames as Record<string, string>)[text('of').toUpperCase()];
  // Notices of earlier versions are about keys.
  const limitOf = t.notices.limitOf as Record<string, string>;
  const limited = fill(limitOf[text('limit_of')] ?? t.notices.limitOf.key, {
    name: text('key_name') || text('project_name'),
  });
  const channels = notice.deliveries.filter(({ channel }) => channel !== null);
  return (
    <li>
      <p>
        {notice.kind === 'RECOVERED' ? null : notice.clearedAt === null ? (
          <Badge tone="warn">{t.notices.current}</Badge>
        ) : (
          <Badge tone="usual">{t.notices.over}</Badge>
        )}{' '}
        {fill(t.notices.kinds[notice.kind ?? 'OTHER'], {
          balance: usd('balance_usd'),
          threshold: usd('threshold_usd'),
          amount: usd('amount_usd'),
          end: moment('expires_at'),
          spent: usd('spent_usd'),
          limit: usd('limit_usd'),
          minutes: text('minutes'),
          subject: limited,
          model: text('model'),
          from: moment('valid_from'),
          start: moment('started_at'),
          email: text('email'),
          device: text('device'),
          upstream: text('upstream'),
          vnd: format.vnd(facts['amount_vnd'] ?? '0'),
          percent: text('percent'),
          minimum: text('minimum'),
          what:
            ended === undefined ? '' : [ended, text('model'), text('upstream')].filter((part) => part !== '').join(' '),
          day: text('day'),
          days: text('days'),
        })}
      </p>
      <p className="hint">
        {format.dateTime(notice.createdAt)}
        {notice.mailed ? ` · ${t.notices.mailed}` : ''}
        {channels.map(({ channel, state }) => ` · ${channel ?? ''}: ${t.notices.states[state ?? 'OTHER']}`)}
      </p>
    </li>
  );
}
