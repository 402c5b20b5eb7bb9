import type { BatchForm, BatchReport, VendorBatch } from '../../billing/vendor-batches.ts';
import type { Reach } from '../../catalog/router.ts';
import { credentialHeaders, messagesVersion } from '../../core/protocol.ts';
import { nativeMessages } from '../../wire/messages/native.ts';
import type { NativeProtocol } from '../../wire/native.ts';
import type { VendorAnswer, VendorAsk } from './vendor-calls.ts';

/** How a vendor's batches are asked about, in the words of each form. */
export interface VendorForm {
  retrieve(batch: VendorBatch, reach: Reach): VendorAsk;
  cancel(batch: VendorBatch, reach: Reach): VendorAsk;
  /** What has its results; empty: there are none. */
  results(batch: VendorBatch, reach: Reach): VendorAsk[];
  /** Makes the vendor forget its contents; empty: they end by themselves. */
  forget(batch: VendorBatch, reach: Reach): VendorAsk[];
  /** Null: the answer is none about a batch. */
  read(answer: VendorAnswer): BatchReport | null;
  /** What reads the answers of its lines. */
  native(batch: Pick<VendorBatch, 'endpoint'>): NativeProtocol;
}

const messages: VendorForm = {
  retrieve: ({ vendorId }, reach) => ask(reach, 'GET', `/${vendorId}`),
  cancel: ({ vendorId }, reach) => ask(reach, 'POST', `/${vendorId}/cancel`),
  results: ({ vendorId }, reach) => [ask(reach, 'GET', `/${vendorId}/results`)],
  forget: ({ vendorId }, reach) => [ask(reach, 'DELETE', `/${vendorId}`)],
  read: readMessageBatch,
  native: () => nativeMessages,
};

function ask({ key }: Reach, method: VendorAsk['method'], rest: string): VendorAsk {
  const headers = { 'anthropic-version': messagesVersion, ...credentialHeaders('messages', key?.secret ?? null) };
  return { method, path: `/v1/messages/batches${rest}`, headers };
}

/** https://platform.claude.com/docs/en/api/messages/batches/retrieve */
function readMessageBatch({ status, body }: VendorAnswer): BatchReport | null {
  const said = status === 200 ? objectOf(body) : null;
  const state = said?.['processing_status'];
  if (
    said === null ||
    !isVendorName(said['id']) ||
    (state !== 'in_progress' && state !== 'canceling' && state !== 'ended')
  )
    return null;
  const counts = (said['request_counts'] ?? {}) as Record<string, unknown>;
  return {
    vendorId: said['id'],
    state,
    counts: {
      succeeded: countOf(counts['succeeded']),
      errored: countOf(counts['errored']),
      canceled: countOf(counts['canceled']),
      expired: countOf(counts['expired']),
    },
    expiresAt: momentOf(said['expires_at']),
    cancelAt: momentOf(said['cancel_initiated_at']),
    endedAt: momentOf(said['ended_at']),
    outputId: null,
    errorId: null,
    times: null,
  };
}

/** A name that can stand in an address. */
export function isVendorName(name: unknown): name is string {
  return typeof name === 'string' && /^[\w-]{1,128}$/.test(name);
}

export function objectOf(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? Math.min(value, 1_000_000) : 0;

function momentOf(value: unknown): Date | null {
  const moment = typeof value === 'string' ? new Date(value) : null;
  return moment === null || Number.isNaN(moment.getTime()) ? null : moment;
}

export const vendorForms: Record<BatchForm, VendorForm> = { messages, openai: messages };
