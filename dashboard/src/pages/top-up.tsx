/** The page that sells plans. */

import type { ElementOf, ListOrdersAnswer, ModelsAnswer, PlansAnswer } from '@steyg/sdk';
import { Link, useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { Lots } from '../components/lots.tsx';
import { Moment } from '../components/moment.tsx';
import { MoreWays } from '../components/more-ways.tsx';
import { Badge, Card, Page } from '../components/page.tsx';
import { StatementsCard } from '../components/statements-card.tsx';
import { Banner, Empty, FailureNotice, Loaded, LoadingSkeleton, More, TableSkeleton } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { AboutVnd, Usd, usePlans } from '../components/usd.tsx';
import { usePayer, WhoPays, type WhoPaysState } from '../components/who-pays.tsx';
import { useAsk, useChange, usePages } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { planPair, stepsFor } from '../money.ts';
import { pages, pathTo } from '../pages.ts';
import { useAbilities, useAccount } from '../session.tsx';
import { upgradeOffer } from '../upgrade.ts';

type Plan = NonNullable<PlansAnswer>[number];
type Model = NonNullable<ModelsAnswer>[number];
type Order = ElementOf<ListOrdersAnswer>;

export default function TopUp() {
  const { t } = useLanguage();
  const { id: accountId, status } = useAccount();
  const { billing, role } = useAbilities();
  const plans = usePlans();
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  const budget = useAsk({
    key: ['budget', accountId],
    ask: (steyg, signal) => steyg.console.ledger.budget({ accountId }, { signal }),
    every: 10_000,
  });
  const orders = usePages({
    key: ['orders', accountId],
    ask: (steyg, after, signal) => steyg.console.orders.listOrders({ accountId, after, first: 25 }, { signal }),
  });
  const shop = useAsk({ key: ['shop'], ask: (steyg, signal) => steyg.console.orders.shop({}, { signal }) });
  const closed = shop.data?.open === false;
  const payer = usePayer();
  const queries = [plans, models, budget, orders, shop, payer];
  const isFailed = queries.some(({ error, isPaused }) => error !== null || isPaused);
  // Shown as a whole: a part that arrives late would move the button that is about to be pressed.
  if (!isFailed && (role === null || queries.some(({ data }) => data === undefined))) {
    return (
      <Page title={t.topUp.title} lead={t.topUp.lead}>
        <LoadingSkeleton height="120vh" />
      </Page>
    );
  }
  return (
    <Page title={t.topUp.title} lead={t.topUp.lead}>
      {closed ? <Banner tone="warn">{t.errors.NOT_ON_SALE}</Banner> : null}
      {role === null || billing || status === 'SUSPENDED' ? null : <Banner>{t.topUp.notAllowed}</Banner>}
      <Loaded query={plans} skeleton={<LoadingSkeleton height="12rem" />}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={t.topUp.noPlans} />
          ) : (
            <>
              {billing && !closed ? <WhoPays payer={payer} /> : null}
              <Plans plans={list} orders={orders.data ?? []} payer={payer} canOrder={billing && !closed} />
              {models.data === undefined ? null : <WhatItBuys plans={list} models={models.data} />}
            </>
          )
        }
      </Loaded>
      <MoreWays canOrder={billing && !closed} payer={payer} />
      <Card title={t.overview.lots}>
        <Loaded query={budget}>
          {({ grants, free }) => (
            <>
              <p>
                {t.overview.free}: <Usd amount={free} /> <AboutVnd usd={free} />
              </p>
              <Lots grants={grants} />
            </>
          )}
        </Loaded>
      </Card>
      <Card title={t.topUp.orders}>
        <Loaded query={orders} skeleton={<TableSkeleton />}>
          {(rows) => (rows.length === 0 ? <Empty title={t.topUp.noOrders} /> : <Orders orders={rows} />)}
        </Loaded>
        <More query={orders} />
      </Card>
      <StatementsCard />
    </Page>
  );
}

interface PlansProps {
  plans: readonly Plan[];
  orders: readonly Order[];
  payer: WhoPaysState;
  canOrder: boolean;
}

function Plans({ plans, orders, payer, canOrder }: PlansProps) {
  const { t, format } = useLanguage();
  const { id: accountId } = useAccount();
  const [, go] = useLocation();
  const order = useChange({
    change: (steyg, input: { planId: string; upgrades?: string }, idempotencyKey) =>
      steyg.console.orders.createOrder({ input: { ...input, accountId, idempotencyKey } }),
    refresh: [['orders', accountId]],
    done: ({ id }) => go(pathTo(pages.order, { id })),
  });
  const best = plans.length > 1 ? planPair(plans)?.best.planId : undefined;
  return (
    <>
      {order.error === null ? null : <FailureNotice error={order.error} />}
      <ul className="plans">
        {plans.map((plan) => {
          const upgrade = upgradeOffer(plan, orders);
          return (
            <li key={plan.id} className={plan.planId === best ? 'card best' : 'card'}>
              <h2>
                {plan.name} {plan.planId === best ? <Badge tone="good">{t.topUp.bestPrice}</Badge> : null}
              </h2>
              <p className="price">{format.vnd(plan.priceVnd)}</p>
              <p>{fill(t.topUp.buys, { budget: format.usd(plan.budget) })}</p>
              <p className="hint">{fill(t.topUp.perUsd, { vnd: format.vnd(plan.vndPerUsd) })}</p>
              <p className="hint">
                {plan.validDays === null
                  ? t.topUp.noEnd
                  : fill(t.topUp.validDays, { days: format.number(plan.validDays) })}
              </p>
              {canOrder ? (
                <div className="actions">
                  <Button
                    look="primary"
                    busy={order.isPending || payer.isSaving}
                    aria-label={fill(t.topUp.orderWhat, { plan: plan.name })}
                    onClick={() => payer.before(() => order.mutate({ planId: plan.planId }))}
                  >
                    {t.topUp.order}
                  </Button>
                  {upgrade === null ? null : (
                    <Button
                      busy={order.isPending || payer.isSaving}
                      onClick={() =>
                        payer.before(() => order.mutate({ planId: plan.planId, upgrades: upgrade.orderId }))
                      }
                    >
                      {fill(t.topUp.upgrade, {
                        plan: upgrade.planName,
                        vnd: format.vnd(upgrade.priceVnd),
                        budget: format.usd(upgrade.budget),
                      })}
                    </Button>
                  )}
                </div>
              ) : null}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function WhatItBuys({ plans, models }: { plans: readonly Plan[]; models: readonly Model[] }) {
  const { t, format } = useLanguage();
  return (
    <Card title={t.topUp.stepsTitle}>
      <Table
        caption={t.topUp.stepsTitle}
        bounded
        rows={models}
        rowKey={({ id }) => id}
        columns={[
          { head: t.models.model, names: true, cell: ({ displayName }) => displayName },
          ...plans.map((plan) => ({
            head: plan.name,
            figure: true,
            cell: ({ prices }: Model) => {
              const steps = stepsFor(plan.budget, prices);
              return steps === null ? t.models.free : format.number(steps);
            },
          })),
        ]}
      />
      <details>
        <summary>{t.models.whatStep}</summary>
        <p className="hint">{t.models.stepsHint}</p>
      </details>
    </Card>
  );
}

const tones = {
  PENDING: 'warn',
  PARTIAL: 'warn',
  PAID: 'usual',
  EXPIRED: 'plain',
  CANCELLED: 'plain',
  OTHER: 'plain',
} as const;

export function OrderBadge({ status }: { status: Order['status'] }) {
  const { t } = useLanguage();
  return <Badge tone={tones[status ?? 'OTHER']}>{t.order.statuses[status ?? 'OTHER']}</Badge>;
}

function Orders({ orders }: { orders: readonly Order[] }) {
  const { t, format } = useLanguage();
  return (
    <Table
      caption={t.topUp.orders}
      rows={orders}
      rowKey={({ id }) => id}
      columns={[
        {
          head: t.order.memo,
          names: true,
          cell: ({ id, memo }) => (
            <Link href={pathTo(pages.order, { id })}>
              <code>{memo}</code>
            </Link>
          ),
        },
        {
          head: t.order.plan,
          cell: ({ planName, upgradedOrder, giftTo }) => (
            <>
              {upgradedOrder === null ? planName : fill(t.order.upgradeTo, { plan: planName })}
              {giftTo === null ? null : <p className="hint">{fill(t.topUp.gift, { receiver: giftTo })}</p>}
            </>
          ),
        },
        { head: t.order.price, figure: true, cell: ({ priceVnd }) => format.vnd(priceVnd) },
        { head: t.order.budget, figure: true, cell: ({ budget }) => format.usd(budget) },
        { head: t.order.made, cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { head: t.order.status, cell: ({ status }) => <OrderBadge status={status} /> },
      ]}
    />
  );
}
