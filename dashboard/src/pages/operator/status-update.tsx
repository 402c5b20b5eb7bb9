/** What an operator says in the course of an incident or of maintenance. */

import type { StatusUpdateState } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField, TextArea } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useChange } from '../../data.tsx';
import { fill, useOperatorLanguage } from '../../language/language.tsx';

/** What an update is about; `id` is that of the incident or the announcement. */
export interface UpdateSubject {
  kind: 'incident' | 'announcement';
  id: string;
  title: string;
  isMaintenance: boolean;
}

interface Update {
  state: StatusUpdateState | null;
  body: string;
  bodyVi: string | null;
  createdAt: string;
}

const incidentStates = ['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'] as const;
const maintenanceStates = ['IN_PROGRESS', 'VERIFYING', 'COMPLETED'] as const;

/** The updates so far, the newest first. */
export function Updates({ updates }: { updates: readonly Update[] }) {
  const { t, format, locale } = useOperatorLanguage();
  return updates.toReversed().map(({ state, body, bodyVi, createdAt }) => (
    <p key={createdAt} className="note">
      <strong>{t.operator.updateStates[state ?? 'OTHER']}</strong> · {format.dateTime(createdAt)}
      <br />
      {locale === 'vi' ? (bodyVi ?? body) : body}
    </p>
  ));
}

export function UpdateDialog({ subject, onClose }: { subject: UpdateSubject; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const states: readonly StatusUpdateState[] = subject.isMaintenance ? maintenanceStates : incidentStates;
  const [state, setState] = useState<StatusUpdateState>(states[0] ?? 'INVESTIGATING');
  const [body, setBody] = useState('');
  const [bodyVi, setBodyVi] = useState('');
  const add = useChange({
    change: (steyg, input: { state: StatusUpdateState; body: string; bodyVi: string }) =>
      steyg.console.operator.addStatusUpdate({
        input: {
          incidentId: subject.kind === 'incident' ? subject.id : null,
          announcementId: subject.kind === 'announcement' ? subject.id : null,
          state: input.state,
          body: input.body.trim(),
          bodyVi: input.bodyVi.trim() === '' ? null : input.bodyVi.trim(),
        },
      }),
    refresh: [['status'], ['incidents']],
    done: () => {
      say(t.operator.announced);
      onClose();
    },
  });
  return (
    <Dialog title={`${t.operator.addUpdate}: ${subject.title}`} onClose={onClose}>
      <Form
        onSubmit={() => add.mutate({ state, body, bodyVi })}
        error={add.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={add.isPending}>
              {t.operator.addUpdate}
            </Button>
          </>
        }
      >
        <SelectField
          label={t.operator.state}
          value={state}
          onChange={(chosen) => setState(chosen as StatusUpdateState)}
          options={states.map((value) => ({ value, label: t.operator.updateStates[value] }))}
        />
        <TextArea label={t.operator.bodyEn} required value={body} onChange={setBody} />
        <TextArea label={t.operator.bodyVi} value={bodyVi} onChange={setBodyVi} />
        <p className="hint">{fill(t.operator.announceHint, { page: '/status' })}</p>
      </Form>
    </Dialog>
  );
}
