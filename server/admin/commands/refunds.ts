/** The commands for money that goes back to customers. */

import { formatUsd } from '../../core/money.ts';
import { createRefunds, type Refund, type RefundOutcome } from '../../plans/refunds.ts';
import { commandLine } from '../../shared/audit.ts';
import { type Command, CommandError, usd } from './command.ts';

const vnd = /^\d{1,15}$/;

function wholeVnd(name: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!vnd.test(text)) throw new CommandError('usage', `--${name} is an amount in whole VND`);
  return BigInt(text);
}

function refundForPeople({ budget, bonus, ...refund }: Refund): Record<string, unknown> {
  return { ...refund, budgetUsd: formatUsd(budget), bonusUsd: formatUsd(bonus) };
}

function tell(outcome: RefundOutcome): { json: Record<string, unknown> } {
  switch (outcome.kind) {
    case 'refunded':
      return { json: refundForPeople(outcome.refund) };
    case 'unknown_order':
      throw new CommandError('not_found', 'There is no such order.');
    case 'unknown_transfer':
      throw new CommandError('not_found', 'There is no such incoming transfer.');
    case 'not_paid':
      throw new CommandError('not_paid', 'The order is not paid: refund its transfer instead.');
    case 'gift_waits':
      throw new CommandError('gift_waits', 'The gift still waits for its receiver; it is the buyer’s after 30 days.');
    case 'too_much_budget':
      throw new CommandError(
        'too_much_budget',
        `${formatUsd(outcome.free)} USD are free, and running requests hold ${formatUsd(outcome.held)} USD.`,
      );
    case 'too_much':
      throw new CommandError('too_much', `At most ${outcome.mostVnd} VND can go back.`);
    default:
      throw new Error(`a refund ended in an unknown way: ${String(outcome satisfies never)}`);
  }
}

export const refundCommands: readonly Command[] = [
  {
    name: 'refund order',
    usage: 'ORDER --reason TEXT [--budget USD] [--used VND|all]',
    summary:
      'take unused budget of a purchase back (all of it, or so much) for its VND; --used pays budget back that was used',
    async run({ pool }, given) {
      const used = given.text('used');
      return tell(
        await createRefunds({ pool }).refundOrder({
          orderId: given.words[0] ?? '',
          budget: usd(given, 'budget') ?? null,
          usedVnd: used === 'all' ? 'all' : (wholeVnd('used', used) ?? 0n),
          reason: given.required('reason'),
          by: commandLine,
        }),
      );
    },
  },
  {
    name: 'refund transfer',
    usage: 'TRANSFER --reason TEXT [--amount VND]',
    summary: 'send back what a transfer brought beyond an order’s price, or for no order',
    async run({ pool }, given) {
      return tell(
        await createRefunds({ pool }).refundTransfer({
          transferId: given.words[0] ?? '',
          amountVnd: wholeVnd('amount', given.text('amount')) ?? null,
          reason: given.required('reason'),
          by: commandLine,
        }),
      );
    },
  },
  {
    name: 'refund pay',
    usage: 'REFUND TRANSFER',
    summary: 'match an outgoing transfer to a refund, where its text does not name the memo of the credit note',
    async run({ pool }, given) {
      const [refundId = '', transferId = ''] = given.words;
      const outcome = await createRefunds({ pool }).pay({ refundId, transferId, by: commandLine });
      if (outcome.kind === 'paid') return { json: refundForPeople(outcome.refund) };
      if (outcome.kind === 'too_much')
        throw new CommandError('too_much', `Only ${outcome.mostVnd} VND are left to send.`);
      if (outcome.kind === 'not_payable')
        throw new CommandError('not_payable', 'The transfer is incoming, or pays a refund already.');
      throw new CommandError('not_found', 'There is no such refund, or no such transfer.');
    },
  },
  {
    name: 'refund unpay',
    usage: 'TRANSFER',
    summary: 'take the match of an outgoing transfer back',
    async run({ pool }, given) {
      const done = await createRefunds({ pool }).undoPayment({ transferId: given.words[0] ?? '', by: commandLine });
      if (!done) throw new CommandError('not_found', 'This transfer pays no refund.');
      return { json: { transfer: given.words[0] ?? '' } };
    },
  },
  {
    name: 'refund undo',
    usage: 'REFUND --reason TEXT',
    summary: 'undo a refund that was a mistake: its budget returns, its credit note is cancelled and keeps the number',
    async run({ pool }, given) {
      const outcome = await createRefunds({ pool }).undo({
        refundId: given.words[0] ?? '',
        reason: given.required('reason'),
        by: commandLine,
      });
      if (outcome.kind === 'undone') return { json: refundForPeople(outcome.refund) };
      if (outcome.kind === 'already_undone') throw new CommandError('already_undone', 'The refund was undone before.');
      throw new CommandError('not_found', 'There is no such refund.');
    },
  },
  {
    name: 'refund list',
    usage: '[--open]',
    summary: 'refunds with their credit notes, the newest first; with --open those that the bank has not sent in full',
    async run({ pool }, given) {
      const refunds = await createRefunds({ pool }).list({ open: given.flag('open'), limit: 1_000 });
      return { json: { refunds: refunds.map(refundForPeople) } };
    },
  },
];
