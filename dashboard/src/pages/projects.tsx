/** The page of an account's projects: their budgets, and what they spent. */

import type { ListProjectsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Badge, Page } from '../components/page.tsx';
import { useSpendingTexts } from '../components/spending-texts.ts';
import { Empty, Loaded, TableSkeleton } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useSay } from '../components/toasts.tsx';
import { Trend, useTrends } from '../components/trends.tsx';
import { useAsk, useChange } from '../data.tsx';
import { useExplain, useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { isUsd } from '../money.ts';
import { useAbilities, useAccount } from '../session.tsx';

type Project = NonNullable<ListProjectsAnswer>[number];
type Open = { what: 'create' } | { what: 'edit' | 'archive' | 'report'; project: Project };

export default function Projects() {
  const texts = useSpendingTexts().projects;
  const { id: accountId } = useAccount();
  const { billing } = useAbilities();
  const [open, setOpen] = useState<Open | null>(null);
  const [archived, setArchived] = useState(false);
  const projects = useAsk({
    key: ['projects', accountId, archived],
    ask: (steyg, signal) => steyg.console.keys.listProjects({ accountId, archived }, { signal }),
    every: 15_000,
  });
  const create = billing ? (
    <Button look="primary" onClick={() => setOpen({ what: 'create' })}>
      {texts.create}
    </Button>
  ) : undefined;
  const close = () => setOpen(null);
  return (
    <Page title={texts.title} lead={texts.lead} actions={create}>
      <Loaded query={projects} skeleton={<TableSkeleton />}>
        {(list) =>
          list === null || list.length === 0 ? (
            <Empty title={texts.empty}>{texts.emptyText}</Empty>
          ) : (
            <ProjectTable projects={list} act={(what, project) => setOpen({ what, project })} mayChange={billing} />
          )
        }
      </Loaded>
      <Checkbox label={texts.showArchived} checked={archived} onChange={setArchived} />
      {open?.what === 'create' ? <ProjectDialog project={null} onClose={close} /> : null}
      {open?.what === 'edit' ? <ProjectDialog project={open.project} onClose={close} /> : null}
      {open?.what === 'archive' ? <ArchiveDialog project={open.project} onClose={close} /> : null}
      {open?.what === 'report' ? <ReportDialog project={open.project} onClose={close} /> : null}
    </Page>
  );
}

function ProjectTable({
  projects,
  act,
  mayChange,
}: {
  projects: readonly Project[];
  act: (what: 'edit' | 'archive' | 'report', project: Project) => void;
  mayChange: boolean;
}) {
  const { t, format } = useLanguage();
  const spending = useSpendingTexts();
  const texts = spending.projects;
  const { id: accountId } = useAccount();
  const trends = useTrends(accountId, 'project');
  const spent = (amount: string, limit: string | null) =>
    limit === null
      ? format.usd(amount)
      : fill(spending.members.ofBudget, { spent: format.usd(amount), budget: format.usd(limit) });
  return (
    <Table
      caption={texts.title}
      rows={projects}
      rowKey={({ id }) => id}
      columns={[
        {
          head: texts.name,
          names: true,
          cell: ({ name, archivedAt }) => (
            <>
              {name} {archivedAt === null ? null : <Badge tone="warn">{texts.archived}</Badge>}
            </>
          ),
        },
        {
          head: spending.members.thisMonth,
          figure: true,
          cell: ({ spend }) => (
            <>
              {spent(spend.thisMonth, spend.limits.month)}
              {spend.held === '0' ? null : (
                <span className="note line">{fill(spending.members.held, { usd: format.usd(spend.held) })}</span>
              )}
            </>
          ),
        },
        {
          head: texts.lifetime,
          figure: true,
          cell: ({ spend }) => spent(spend.lifetime, spend.limits.lifetime),
        },
        { head: t.activity.trend, cell: ({ id, name }) => <Trend of={trends} id={id} name={name} /> },
        { head: texts.keys, figure: true, cell: ({ spend }) => format.number(spend.keys) },
        {
          head: t.common.actions,
          silentHead: true,
          cell: (project) => (
            <div className="row-actions">
              <Button
                small
                aria-label={fill(texts.reportWhat, { name: project.name })}
                onClick={() => act('report', project)}
              >
                {texts.report}
              </Button>
              {mayChange ? (
                <>
                  <Button
                    small
                    aria-label={fill(texts.editWhat, { name: project.name })}
                    onClick={() => act('edit', project)}
                  >
                    {t.common.edit}
                  </Button>
                  <Button
                    small
                    look="danger"
                    aria-label={fill(project.archivedAt === null ? texts.archiveWhat : texts.restoreWhat, {
                      name: project.name,
                    })}
                    onClick={() => act('archive', project)}
                  >
                    {project.archivedAt === null ? texts.archive : texts.restore}
                  </Button>
                </>
              ) : null}
            </div>
          ),
        },
      ]}
    />
  );
}

interface Draft {
  name: string;
  month: string;
  lifetime: string;
}

const isAmount = (text: string): boolean => text.trim() === '' || isUsd(text);
const amountOf = (text: string): string | null => (text.trim() === '' ? null : text.trim());

function ProjectDialog({ project, onClose }: { project: Project | null; onClose: () => void }) {
  const { t } = useLanguage();
  const texts = useSpendingTexts().projects;
  const say = useSay();
  const { id: accountId } = useAccount();
  const [draft, setDraft] = useState<Draft>({
    name: project?.name ?? '',
    month: project?.spend.limits.month ?? '',
    lifetime: project?.spend.limits.lifetime ?? '',
  });
  const save = useChange({
    change: async (steyg, { name, month, lifetime }: Draft) => {
      const input = { name: name.trim(), limits: { month: amountOf(month), lifetime: amountOf(lifetime) } };
      return project === null
        ? steyg.console.keys.createProject({ input: { ...input, accountId } })
        : steyg.console.keys.updateProject({ input: { ...input, id: project.id } });
    },
    refresh: [['projects', accountId]],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const { fields, rest } = useProblems(save.error, ['name', 'limits']);
  return (
    <Dialog title={project === null ? texts.create : fill(texts.editWhat, { name: project.name })} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (isAmount(draft.month) && isAmount(draft.lifetime)) save.mutate(draft);
        }}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={save.isPending}>
              {project === null ? texts.create : t.common.save}
            </Button>
          </>
        }
      >
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          required
          maxLength={100}
          value={draft.name}
          onChange={(name) => setDraft({ ...draft, name })}
          error={fields['name']}
        />
        <fieldset className="group">
          <legend>{texts.budgets}</legend>
          <p className="hint">{texts.budgetsHint}</p>
          <div className="fields">
            <TextField
              label={texts.month}
              inputMode="decimal"
              placeholder={t.keys.noLimit}
              value={draft.month}
              onChange={(month) => setDraft({ ...draft, month })}
              error={isAmount(draft.month) ? fields['limits'] : t.problems.usd}
            />
            <TextField
              label={texts.lifetime}
              inputMode="decimal"
              placeholder={t.keys.noLimit}
              value={draft.lifetime}
              onChange={(lifetime) => setDraft({ ...draft, lifetime })}
              error={isAmount(draft.lifetime) ? undefined : t.problems.usd}
            />
          </div>
        </fieldset>
      </Form>
    </Dialog>
  );
}

function ArchiveDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const texts = useSpendingTexts().projects;
  const say = useSay();
  const explain = useExplain();
  const { id: accountId } = useAccount();
  const isArchived = project.archivedAt !== null;
  const change = useChange({
    change: (steyg, archived: boolean) => steyg.console.keys.updateProject({ input: { id: project.id, archived } }),
    refresh: [['projects', accountId]],
  });
  return (
    <Confirm
      title={fill(isArchived ? texts.restoreWhat : texts.archiveWhat, { name: project.name })}
      action={isArchived ? texts.restore : texts.archive}
      busy={change.isPending}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(!isArchived, {
          onError: (error) => say(explain(error).sentence, 'bad'),
          onSettled: onClose,
        })
      }
    >
      {isArchived ? null : <p>{texts.archiveText}</p>}
    </Confirm>
  );
}

function ReportDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const { t, format } = useLanguage();
  const texts = useSpendingTexts();
  const report = useAsk({
    key: ['project', project.id],
    ask: (steyg, signal) => steyg.console.keys.project({ id: project.id, months: 24 }, { signal }),
  });
  return (
    <Dialog title={fill(texts.projects.reportWhat, { name: project.name })} onClose={onClose}>
      <Loaded query={report}>
        {(found) =>
          found?.__typename !== 'Project' || found.months.length === 0 ? (
            <Empty title={texts.projects.noMonths} />
          ) : (
            <Table
              caption={texts.projects.report}
              rows={found.months}
              rowKey={({ month }) => month}
              columns={[
                { head: texts.projects.monthName, names: true, cell: ({ month }) => format.monthOf(month) },
                { head: t.keys.spent, figure: true, cell: ({ charged }) => format.usd(charged) },
              ]}
            />
          )
        }
      </Loaded>
      <div className="actions">
        <Button onClick={onClose}>{t.common.close}</Button>
      </div>
    </Dialog>
  );
}
