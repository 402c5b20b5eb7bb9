import type { AuditLogAnswer, ElementOf } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { changesOf } from '../../changes.ts';
import { Button } from '../../components/button.tsx';
import { Code } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Page } from '../../components/page.tsx';
import { Empty, Loaded, More, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { usePages } from '../../data.tsx';
import { actionText } from '../../language/actions.ts';
import { useOperatorLanguage } from '../../language/language.tsx';
import { pages, pathTo } from '../../pages.ts';

/** The audit log: who changed what, and when. */

type Entry = ElementOf<AuditLogAnswer>;

/** What was changed: accounts and models by their names, with a link; the rest as the log has it, ids cut short. */
function Subject({ entry: { subject, account } }: { entry: Entry }) {
  if (account !== null) return <Link href={pathTo(pages.operatorAccount, { id: account.id })}>{account.name}</Link>;
  const [kind = '', id = ''] = subject.split(/:(.*)/s);
  if (kind === 'model') {
    return (
      <Link href={pathTo(pages.operatorModel, { modelId: id })}>
        <code>{id}</code>
      </Link>
    );
  }
  return <code title={subject}>{shortened(subject)}</code>;
}

/** Who did it: the person's address or the token's name. */
function Actor({ entry: { actor, actorName } }: { entry: Entry }) {
  return actorName === null ? <code title={actor}>{shortened(actor)}</code> : <span title={actor}>{actorName}</span>;
}

/** A UUID by its last block: the whole one stands in the title and in the details. */
const shortened = (text: string): string =>
  text.replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}([0-9a-f]{12})/g, (_uuid, end: string) => `…${end}`);

/** The audit log, with old and new values. */
export default function Audit() {
  const { t, format, locale } = useOperatorLanguage();
  const [search] = useSearchParams();
  const [subject, setSubject] = useState(search.get('subject') ?? '');
  const [actor, setActor] = useState('');
  const [shown, setShown] = useState<Entry | null>(null);
  const about = useDeferredValue(subject.trim());
  const by = useDeferredValue(actor.trim());
  const log = usePages({
    key: ['operator', 'audit', about, by],
    ask: (steyg, after, signal) =>
      steyg.console.operator.auditLog(
        { after, first: 50, subject: about === '' ? null : about, actor: by === '' ? null : by },
        { signal },
      ),
  });
  return (
    <Page title={t.nav.operatorAudit} lead={t.operator.auditLead}>
      <div className="filters">
        <TextField
          label={t.operator.subject}
          hint={t.operator.subjectHint}
          type="search"
          value={subject}
          onChange={setSubject}
        />
        <TextField
          label={t.operator.actor}
          hint={t.operator.actorHint}
          type="search"
          value={actor}
          onChange={setActor}
        />
      </div>
      <Loaded query={log} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noChanges} />
          ) : (
            <Table
              caption={t.nav.operatorAudit}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { head: t.activity.time, names: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
                {
                  head: t.operator.action,
                  cell: ({ action }) => <span title={action}>{actionText(action, locale)}</span>,
                },
                { head: t.operator.subject, cell: (entry) => <Subject entry={entry} /> },
                { head: t.operator.actor, cell: (entry) => <Actor entry={entry} /> },
                {
                  head: t.operator.change,
                  cell: (entry) => (
                    <Button
                      small
                      aria-label={`${t.operator.show}: ${actionText(entry.action, locale)} ${entry.subject}`}
                      onClick={() => setShown(entry)}
                    >
                      {t.operator.show}
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={log} />
      {shown === null ? null : (
        <Dialog title={actionText(shown.action, locale)} onClose={() => setShown(null)} wide>
          <p className="hint">
            {format.dateTime(shown.createdAt)} · <code>{shown.action}</code> · <code>{shown.subject}</code> ·{' '}
            {shown.actorName === null ? '' : `${shown.actorName} · `}
            <code>{shown.actor}</code>
          </p>
          <Code text={changesOf(shown.before, shown.after)} what={t.operator.change} />
        </Dialog>
      )}
    </Page>
  );
}
