/** The operator's page of the seller's details, which customers see on every page and on receipts. */

import type { SellerAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Card, Page } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { useOperatorLanguage } from '../../language/language.tsx';

const fieldNames = [
  'name',
  'taxCode',
  'address',
  'supportEmail',
  'supportPhone',
  'termsUrl',
  'privacyUrl',
  'refundUrl',
] as const;
type Draft = Record<(typeof fieldNames)[number], string>;

export default function SellerPage() {
  const { t } = useOperatorLanguage();
  const seller = useAsk({ key: ['seller'], ask: (steyg, signal) => steyg.console.orders.seller({}, { signal }) });
  return (
    <Page title={t.nav.operatorSeller} lead={t.operator.sellerLead}>
      <Card>
        <Loaded query={seller}>{(present) => <SellerForm seller={present} />}</Loaded>
      </Card>
    </Page>
  );
}

function SellerForm({ seller }: { seller: NonNullable<SellerAnswer> }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [draft, setDraft] = useState<Draft>({ ...seller });
  const save = useChange({
    change: (steyg, input: Draft) =>
      steyg.console.operator.saveSeller({
        input: {
          name: input.name.trim(),
          taxCode: input.taxCode.trim(),
          address: input.address.trim(),
          supportEmail: input.supportEmail.trim(),
          supportPhone: input.supportPhone.trim(),
          termsUrl: input.termsUrl.trim(),
          privacyUrl: input.privacyUrl.trim(),
          refundUrl: input.refundUrl.trim(),
        },
      }),
    refresh: [['seller'], ['operator', 'setup']],
    done: () => say(t.common.saved),
  });
  const { fields, rest } = useProblems(save.error, fieldNames);
  return (
    <Form
      onSubmit={() => save.mutate(draft)}
      error={rest}
      actions={
        <Button type="submit" look="primary" busy={save.isPending}>
          {t.common.save}
        </Button>
      }
    >
      <div className="fields">
        {fieldNames.map((name) => (
          <TextField
            key={name}
            label={t.operator.sellerFields[name]}
            maxLength={500}
            {...(name.endsWith('Url') ? { inputMode: 'url' as const, placeholder: 'https://' } : {})}
            value={draft[name]}
            onChange={(value) => setDraft({ ...draft, [name]: value })}
            error={fields[name]}
          />
        ))}
      </div>
    </Form>
  );
}
