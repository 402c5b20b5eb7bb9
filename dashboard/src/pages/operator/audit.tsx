import type { AuditLogAnswer, ElementOf } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { changesOf } from '../../changes.ts';
import { Button } from '../../components/button.tsx';
import { Code } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Page } from '../../components/page.tsx';
import { Empty, Loaded, More } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { usePages } from '../../data.tsx';
import { useOperatorLanguage } from '../../language/language.tsx';

/** The audit log: who changed what, and when. */

type Entry = ElementOf<AuditLogAnswer>;

/** The audit log, with old and new values. */
export default function Audit() {
  const { t, format } = useOperatorLanguage();
  const [subject, setSubject] = useState('');
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
      <Loaded query={log}>
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
                { head: t.operator.action, cell: ({ action }) => <code>{action}</code> },
                { head: t.operator.subject, cell: (entry) => <code>{entry.subject}</code> },
                { head: t.operator.actor, cell: (entry) => <code>{entry.actor}</code> },
                {
                  head: t.operator.change,
                  cell: (entry) => (
                    <Button
                      small
                      aria-label={`${t.operator.show}: ${entry.action} ${entry.subject}`}
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
        <Dialog title={`${shown.action} ${shown.subject}`} onClose={() => setShown(null)} wide>
          <p className="hint">
            {format.dateTime(shown.createdAt)} · {shown.actor}
          </p>
          <Code text={changesOf(shown.before, shown.after)} what={t.operator.change} />
        </Dialog>
      )}
    </Page>
  );
}
