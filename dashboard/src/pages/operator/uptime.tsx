/** The operator's page of uptime and announcements. */

import type { AnnouncementKind, ServiceStateAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { DateField } from '../../components/date-field.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { FailuresCard } from '../../components/failures-card.tsx';
import { SelectField, TextArea, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, Card, Page } from '../../components/page.tsx';
import { RangeFilter } from '../../components/range-filter.tsx';
import { Empty, Loaded, LoadingSkeleton, More, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange, usePages } from '../../data.tsx';
import { useExplain } from '../../explain.ts';
import { useReportAddress } from '../../hooks.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { Measuring } from './probing.tsx';
import { UpdateDialog, type UpdateSubject, Updates } from './status-update.tsx';

type Status = NonNullable<ServiceStateAnswer>;
type ModelStatus = Status['models'][number];

const statusKey = ['status'];
const tones = { UP: 'usual', DEGRADED: 'warn', DOWN: 'bad', NO_DATA: 'plain' } as const;

export default function Uptime() {
  const { t } = useOperatorLanguage();
  const [announcing, setAnnouncing] = useState(false);
  const status = useAsk({
    key: statusKey,
    ask: (steyg, signal) => steyg.console.status.serviceState({}, { signal }),
    every: 30_000,
  });
  return (
    <Page
      title={t.nav.operatorUptime}
      lead={<a href="/status">{t.operator.publicStatus}</a>}
      actions={
        <Button takes="announce" look="primary" onClick={() => setAnnouncing(true)}>
          {t.operator.announce}
        </Button>
      }
    >
      <Loaded query={status} skeleton={<LoadingSkeleton height="16rem" />}>
        {(found) => (
          <>
            <Announcements status={found} />
            <Measured status={found} />
            <ModelTable models={found.models} />
          </>
        )}
      </Loaded>
      <Errors />
      <Incidents />
      <Measuring />
      {announcing ? <AnnounceDialog models={status.data?.models ?? []} onClose={() => setAnnouncing(false)} /> : null}
    </Page>
  );
}

/** Customers' failed requests of some days by reason. */
function Errors() {
  const { range, set } = useReportAddress();
  return (
    <FailuresCard
      subject={['operator']}
      range={range}
      actions={<RangeFilter range={range} onChange={set} />}
      rows={async (steyg, asked, signal) => (await steyg.console.operator.failures(asked, { signal })) ?? []}
    />
  );
}

/** Since when, from where, and when the service itself was not running. */
function Measured({ status: { measuredSince, observers, absences } }: { status: Status }) {
  const { t, format } = useOperatorLanguage();
  if (measuredSince === null) return null;
  const from = observers.map(({ agent, name, region }) => (agent ? `${name} (${region})` : t.operator.itself));
  return (
    <p className="hint">
      {fill(t.operator.measuredSince, { since: format.dateTime(measuredSince) })}
      {from.length === 0 ? '' : ` · ${fill(t.operator.measuredFrom, { observers: format.list(from) })}`}
      {absences.slice(0, 3).map(({ from: began, to }) => (
        <span key={began} className="note">
          {fill(t.operator.away, { from: format.dateTime(began), to: format.dateTime(to) })}
        </span>
      ))}
    </p>
  );
}

function Announcements({ status }: { status: Status }) {
  const { t, format, locale } = useOperatorLanguage();
  const say = useSay();
  const failure = useFailureToast();
  const [subject, setSubject] = useState<UpdateSubject | null>(null);
  const [moving, setMoving] = useState<Status['announcements'][number] | null>(null);
  const end = useChange({
    change: (steyg, id: string) => steyg.console.operator.endAnnouncement({ id }),
    refresh: [statusKey],
    done: () => say(t.common.saved),
  });
  return (
    <Card title={t.operator.announcements}>
      {status.announcements.length === 0 ? (
        <Empty title={t.operator.noAnnouncements} />
      ) : (
        <ul className="notices">
          {status.announcements.map((item) => (
            <li key={item.id} className="row-line">
              <div>
                <p>
                  <Badge tone={item.kind === 'INCIDENT' ? 'bad' : item.kind === 'MAINTENANCE' ? 'warn' : 'plain'}>
                    {t.operator.announcementKinds[item.kind ?? 'OTHER']}
                  </Badge>{' '}
                  <strong>{locale === 'vi' ? (item.titleVi ?? item.title) : item.title}</strong>
                </p>
                <p>{locale === 'vi' ? (item.bodyVi ?? item.body) : item.body}</p>
                <p className="hint">
                  {format.dateTime(item.startsAt)}
                  {item.endsAt === null ? '' : ` – ${format.dateTime(item.endsAt)}`}
                  {item.modelIds.length === 0 ? '' : ` · ${format.list(item.modelIds)}`}
                </p>
                <Updates updates={item.updates} />
              </div>
              <div className="actions">
                {item.kind === 'INFO' ? null : (
                  <Button
                    small
                    onClick={() =>
                      setSubject({
                        kind: 'announcement',
                        id: item.id,
                        title: item.title,
                        isMaintenance: item.kind === 'MAINTENANCE',
                      })
                    }
                  >
                    {t.operator.addUpdate}
                  </Button>
                )}
                {item.endsAt === null ? null : (
                  <Button small onClick={() => setMoving(item)}>
                    {t.operator.moveEnd}
                  </Button>
                )}
                <Button small busy={end.isPending} onClick={() => end.mutate(item.id, failure)}>
                  {t.operator.endAnnouncement}
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
      {subject === null ? null : <UpdateDialog subject={subject} onClose={() => setSubject(null)} />}
      {moving === null ? null : <MoveEndDialog id={moving.id} title={moving.title} onClose={() => setMoving(null)} />}
    </Card>
  );
}

/** Says when an announcement ends: maintenance that takes longer, or less time, than announced. */
function MoveEndDialog({ id, title, onClose }: { id: string; title: string; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [endsAt, setEndsAt] = useState('');
  const move = useChange({
    change: (steyg, at: string) => steyg.console.operator.endAnnouncement({ id, endsAt: new Date(at).toISOString() }),
    refresh: [statusKey],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  return (
    <Dialog title={`${t.operator.moveEnd}: ${title}`} onClose={onClose}>
      <Form
        label={t.operator.moveEnd}
        onSubmit={() => move.mutate(endsAt)}
        error={move.error}
        actions={
          <Button type="submit" look="primary" busy={move.isPending} disabled={endsAt === ''}>
            {t.common.save}
          </Button>
        }
      >
        <DateField label={t.operator.ends} withTime value={endsAt} onChange={setEndsAt} />
      </Form>
    </Dialog>
  );
}

function ModelTable({ models }: { models: readonly ModelStatus[] }) {
  const { t, format } = useOperatorLanguage();
  const ratio = (uptime: ModelStatus['last24Hours']) =>
    uptime.ratio === null ? t.operator.noData : format.percent(uptime.ratio, 3);
  return (
    <Card title={t.operator.byModel}>
      {models.length === 0 ? (
        <Empty title={t.models.empty} />
      ) : (
        <Table
          caption={t.nav.operatorUptime}
          rows={models}
          rowKey={({ modelId }) => modelId}
          columns={[
            {
              head: t.models.model,
              names: true,
              cell: ({ displayName, modelId }) => (
                <>
                  {displayName}
                  <br />
                  <code>{modelId}</code>
                </>
              ),
            },
            {
              head: t.operator.state,
              cell: ({ state }) => <Badge tone={tones[state]}>{t.operator.states[state]}</Badge>,
            },
            { head: t.ranges.day, figure: true, cell: ({ last24Hours }) => ratio(last24Hours) },
            { head: t.ranges.week, figure: true, cell: ({ last7Days }) => ratio(last7Days) },
            {
              head: t.operator.sinceHead,
              figure: true,
              // A figure of 90 days only where measuring goes back so far.
              cell: ({ last90Days, measuredSince }) => (
                <>
                  {ratio(last90Days)}
                  {measuredSince === null ? null : (
                    <span className="note">
                      {fill(t.operator.figureSince, { since: format.date(laterOf(measuredSince)) })}
                    </span>
                  )}
                </>
              ),
            },
            {
              head: t.operator.requestsSucceeded,
              figure: true,
              cell: ({ requestsSucceeded, requests }) => (
                <>
                  {requestsSucceeded !== null
                    ? format.percent(requestsSucceeded, 2)
                    : requests.length === 0
                      ? t.operator.noRequests
                      : t.operator.tooFewRequests}
                  {requests.map(({ protocol, count, succeeded }) => (
                    <span key={protocol} className="note">
                      {t.protocols[protocol ?? 'OTHER']}:{' '}
                      {[
                        ...(succeeded === null ? [] : [format.percent(succeeded, 2)]),
                        ...(count === null ? [] : [format.number(count)]),
                      ].join(' / ')}
                    </span>
                  ))}
                </>
              ),
            },
            {
              head: t.operator.ways,
              cell: ({ ways }) => <LatestProbes ways={ways} />,
            },
          ]}
        />
      )}
    </Card>
  );
}

/** Each way that fails in full; of those that answer the range of their latencies, and each of them on demand. */
function LatestProbes({ ways }: { ways: ModelStatus['ways'] }) {
  const { t, format } = useOperatorLanguage();
  if (ways.length === 0) return t.operator.noData;
  const line = (way: (typeof ways)[number]) => (
    <span key={`${way.protocol}${way.mode}`} className="note">
      {t.protocols[way.protocol ?? 'OTHER']}, {t.operator.modes[way.mode ?? 'OTHER']}:{' '}
      {way.outcome === 'UP'
        ? way.latencyMs === null
          ? t.operator.states.UP
          : format.milliseconds(way.latencyMs)
        : `${t.operator.states[way.outcome ?? 'OTHER']} (${way.reason ?? ''})`}
    </span>
  );
  const up = ways.filter(({ outcome }) => outcome === 'UP');
  const latencies = up.flatMap(({ latencyMs }) => latencyMs ?? []);
  const range = [...new Set([Math.min(...latencies), Math.max(...latencies)])].map(format.milliseconds).join(' – ');
  return (
    <>
      {ways.filter(({ outcome }) => outcome !== 'UP').map(line)}
      {up.length === 0 ? null : (
        <details>
          <summary>
            {fill(t.operator.waysUp, { n: format.number(up.length) })}
            {latencies.length === 0 ? '' : `, ${range}`}
          </summary>
          {up.map(line)}
        </details>
      )}
    </>
  );
}

const maxSpanMs = 90 * 86_400_000;

/** When the figure of 90 days begins: 90 days ago, or when measuring did. */
function laterOf(measuredSince: string): Date {
  return new Date(Math.max(Date.parse(measuredSince), Date.now() - maxSpanMs));
}

function Incidents() {
  const { t, format } = useOperatorLanguage();
  const [subject, setSubject] = useState<UpdateSubject | null>(null);
  const incidents = usePages({
    key: ['incidents'],
    ask: (steyg, after, signal) => steyg.console.status.listIncidents({ after, first: 20 }, { signal }),
    every: 30_000,
  });
  return (
    <Card title={t.operator.incidents}>
      <Loaded query={incidents} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noIncidents} />
          ) : (
            <Table
              caption={t.operator.incidents}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { head: t.models.model, names: true, cell: ({ modelId }) => <code>{modelId}</code> },
                {
                  head: t.operator.impact,
                  cell: ({ impact, cause, updates }) => (
                    <>
                      <Badge tone={impact === 'MAJOR' ? 'bad' : 'warn'}>{t.operator.impacts[impact ?? 'OTHER']}</Badge>
                      {cause === null ? null : <span className="note">{t.operator.serviceCause}</span>}
                      <Updates updates={updates} />
                    </>
                  ),
                },
                {
                  head: t.operator.affected,
                  cell: ({ affectedWays }) =>
                    format.list(
                      affectedWays.map(
                        ({ protocol, mode }) =>
                          `${t.protocols[protocol ?? 'OTHER']} (${t.operator.modes[mode ?? 'OTHER']})`,
                      ),
                    ),
                },
                { head: t.operator.began, cell: ({ startedAt }) => <Moment at={startedAt} /> },
                {
                  head: t.operator.ended,
                  cell: ({ endedAt }) => (endedAt === null ? t.operator.goesOn : <Moment at={endedAt} />),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: ({ id, modelId }) => (
                    <Button
                      small
                      aria-label={`${t.operator.addUpdate}: ${modelId}`}
                      onClick={() => setSubject({ kind: 'incident', id, title: modelId, isMaintenance: false })}
                    >
                      {t.operator.addUpdate}
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={incidents} />
      {subject === null ? null : <UpdateDialog subject={subject} onClose={() => setSubject(null)} />}
    </Card>
  );
}

const kinds = ['INFO', 'MAINTENANCE', 'INCIDENT'] as const;

function AnnounceDialog({ models, onClose }: { models: readonly ModelStatus[]; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const explain = useExplain();
  const [draft, setDraft] = useState({
    kind: 'INFO' as AnnouncementKind,
    title: '',
    titleVi: '',
    body: '',
    bodyVi: '',
    startsAt: '',
    endsAt: '',
    modelId: '',
  });
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  const text = (value: string) => (value.trim() === '' ? null : value.trim());
  const moment = (value: string) => (value === '' ? null : new Date(value).toISOString());
  const announce = useChange({
    change: (steyg, input: typeof draft) =>
      steyg.console.operator.announce({
        input: {
          kind: input.kind,
          title: input.title.trim(),
          titleVi: text(input.titleVi),
          body: input.body.trim(),
          bodyVi: text(input.bodyVi),
          startsAt: moment(input.startsAt),
          endsAt: moment(input.endsAt),
          modelIds: input.modelId === '' ? null : [input.modelId],
        },
      }),
    refresh: [statusKey],
    done: () => {
      say(t.operator.announced);
      onClose();
    },
  });
  const { fields } = announce.error === null ? { fields: {} as Record<string, string> } : explain(announce.error);
  const isShown = ['startsAt', 'endsAt', 'title', 'body', 'titleVi', 'bodyVi'].some((name) => name in fields);
  return (
    <Dialog title={t.operator.announce} onClose={onClose} wide>
      <Form
        onSubmit={() => announce.mutate(draft)}
        error={isShown ? null : announce.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={announce.isPending}>
              {t.operator.announce}
            </Button>
          </>
        }
      >
        <div className="fields">
          <SelectField
            label={t.operator.kind}
            value={draft.kind}
            onChange={(kind) => set({ kind: kind as AnnouncementKind })}
            options={kinds.map((value) => ({ value, label: t.operator.announcementKinds[value] }))}
          />
          <SelectField
            label={t.models.model}
            value={draft.modelId}
            onChange={(modelId) => set({ modelId })}
            options={[
              { value: '', label: t.operator.wholeService },
              ...models.map(({ modelId }) => ({ value: modelId, label: modelId })),
            ]}
          />
          <DateField
            label={t.operator.begins}
            hint={t.operator.beginsHint}
            withTime
            value={draft.startsAt}
            onChange={(startsAt) => set({ startsAt })}
            error={fields['startsAt']}
          />
          <DateField
            label={t.operator.ends}
            hint={t.operator.endsHint}
            withTime
            value={draft.endsAt}
            onChange={(endsAt) => set({ endsAt })}
            error={fields['endsAt']}
          />
        </div>
        <TextField
          label={t.operator.titleEn}
          required
          maxLength={200}
          value={draft.title}
          onChange={(title) => set({ title })}
          error={fields['title']}
        />
        <TextArea
          label={t.operator.bodyEn}
          required
          value={draft.body}
          onChange={(body) => set({ body })}
          error={fields['body']}
        />
        <TextField
          label={t.operator.titleVi}
          maxLength={200}
          value={draft.titleVi}
          onChange={(titleVi) => set({ titleVi })}
          error={fields['titleVi']}
        />
        <TextArea
          label={t.operator.bodyVi}
          value={draft.bodyVi}
          onChange={(bodyVi) => set({ bodyVi })}
          error={fields['bodyVi']}
        />
        <p className="hint">{fill(t.operator.announceHint, { page: '/status' })}</p>
      </Form>
    </Dialog>
  );
}
