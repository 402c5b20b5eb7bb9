import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAsk, useChange } from '../data.tsx';
import { useProblems } from '../explain.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages, pathTo } from '../pages.ts';
import { useAccount } from '../session.tsx';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Card } from './page.tsx';
import { useSay } from './toasts.tsx';
import type { WhoPaysState } from './who-pays.tsx';

/** Ways to budget beside the plans: a free amount, also for another account, bonuses, and redemption codes. */

export function MoreWays({ canOrder, payer }: { canOrder: boolean; payer: WhoPaysState }) {
  const { t, format } = useLanguage();
  const steps = useAsk({
    key: ['bonusSteps'],
    ask: (steyg, signal) => steyg.console.orders.bonusSteps({}, { signal }),
  });
  return (
    <>
      {(steps.data ?? []).map(({ fromVnd, basisPoints }) => (
        <p className="hint" key={fromVnd}>
          {fill(t.topUp.bonus, { vnd: format.vnd(fromVnd), percent: format.percent(basisPoints / 10_000) })}
        </p>
      ))}
      {canOrder ? (
        <div className="columns">
          <FreeAmount payer={payer} />
          <RedeemCode />
        </div>
      ) : null}
    </>
  );
}

function FreeAmount({ payer }: { payer: WhoPaysState }) {
  const { t, format } = useLanguage();
  const { id: accountId } = useAccount();
  const [, go] = useLocation();
  const [amount, setAmount] = useState('');
  const [giftTo, setGiftTo] = useState('');
  const topUp = useAsk({ key: ['topUp'], ask: (steyg, signal) => steyg.console.orders.topUp({}, { signal }) });
  const order = useChange({
    change: (steyg, amountVnd: string, idempotencyKey) =>
      steyg.console.orders.createOrder({
        input: { accountId, amountVnd, idempotencyKey, ...(giftTo.trim() === '' ? {} : { giftTo: giftTo.trim() }) },
      }),
    refresh: [['orders', accountId]],
    done: ({ id }) => go(pathTo(pages.order, { id })),
  });
  const offer = topUp.data;
  if (offer == null) return null;
  const { fields, rest } = useProblems(order.error, ['giftTo']);
  return (
    <Card title={t.topUp.freeTitle}>
      <Form
        onSubmit={() => payer.before(() => order.mutate(amount.replaceAll(/\D/g, '')))}
        error={rest}
        actions={
          <Button type="submit" look="primary" busy={order.isPending || payer.isSaving}>
            {t.topUp.order}
          </Button>
        }
      >
        <TextField
          label={t.topUp.freeVnd}
          hint={fill(t.topUp.freeHint, {
            min: format.vnd(offer.minVnd),
            max: format.vnd(offer.maxVnd),
            vnd: format.vnd(offer.plan.vndPerUsd),
          })}
          inputMode="numeric"
          required
          value={amount}
          onChange={setAmount}
        />
        <TextField
          label={t.topUp.giftTo}
          hint={t.topUp.giftHint}
          maxLength={254}
          value={giftTo}
          onChange={setGiftTo}
          error={fields['giftTo']}
        />
      </Form>
    </Card>
  );
}

function RedeemCode() {
  const { t, format } = useLanguage();
  const { id: accountId } = useAccount();
  const say = useSay();
  const [code, setCode] = useState('');
  const redeem = useChange({
    change: (steyg) => steyg.console.orders.redeemCode({ accountId, code }),
    refresh: [['budget', accountId]],
    done: ({ again, amount }) => {
      say(again ? t.topUp.redeemedBefore : fill(t.topUp.redeemed, { budget: format.usd(amount) }));
      setCode('');
    },
  });
  return (
    <Card title={t.topUp.code}>
      <Form
        onSubmit={() => redeem.mutate()}
        error={redeem.error}
        actions={
          <Button type="submit" busy={redeem.isPending}>
            {t.topUp.redeem}
          </Button>
        }
      >
        <TextField label={t.topUp.code} autoComplete="off" maxLength={60} required value={code} onChange={setCode} />
      </Form>
    </Card>
  );
}
