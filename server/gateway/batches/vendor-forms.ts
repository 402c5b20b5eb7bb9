import type { BatchForm, BatchReport, VendorBatch } from '../../billing/vendor-batches.ts';
import type { Reach } from '../../catalog/router.ts';
import { credentialHeaders, messagesVersion } from '../../core/protocol.ts';
import { nativeChatCompletions } from '../../wire/chat-completions/native.ts';
import { nativeEmbeddings } from '../../wire/embeddings/native.ts';
import { nativeMessages } from '../../wire/messages/native.ts';
import type { NativeProtocol } from '../../wire/native.ts';
import { nativeResponses } from '../../wire/responses/native.ts';
import type { VendorAnswer, VendorAsk } from './vendor-calls.ts';

/** How a vendor's batches are asked about, in the words of each form. */
export interface VendorForm {
  retrieve(batch: VendorBatch, reach: Reach): VendorAsk;
  cancel(batch: VendorBatch, reach: Reach): VendorAsk;
  /** What has its results; empty: there are none. */
  results(batch: VendorBatch, reach: Reach): VendorAsk[];
  /** Makes the vendor forget its contents; empty: the vendor forgets them after a time. */
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

const openaiNatives: Record<string, NativeProtocol> = {
  '/v1/chat/completions': nativeChatCompletions,
  '/v1/responses': nativeResponses,
  '/v1/embeddings': nativeEmbeddings,
};

const openai: VendorForm = {
  retrieve: ({ vendorId }, reach) => askOpenai(reach, 'GET', `/batches/${vendorId}`),
  cancel: ({ vendorId }, reach) => askOpenai(reach, 'POST', `/batches/${vendorId}/cancel`),
  results: ({ outputId, errorId }, reach) =>
    [outputId, errorId].flatMap((id) => (id === null ? [] : [askOpenai(reach, 'GET', `/files/${id}/content`)])),
  forget: ({ inputId, outputId, errorId }, reach) =>
    [inputId, outputId, errorId].flatMap((id) => (id === null ? [] : [askOpenai(reach, 'DELETE', `/files/${id}`)])),
  read: readOpenaiBatch,
  native: ({ endpoint }) => openaiNatives[endpoint] ?? nativeChatCompletions,
};

/** The upstream's base address has the version. */
export function askOpenai({ key }: Reach, method: VendorAsk['method'], path: string, body?: unknown): VendorAsk {
  const headers = credentialHeaders('chat-completions', key?.secret ?? null);
  if (body === undefined) return { method, path, headers };
  return { method, path, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

const openaiStates: Record<string, BatchReport['state']> = {
  validating: 'in_progress',
  in_progress: 'in_progress',
  finalizing: 'in_progress',
  cancelling: 'canceling',
  completed: 'ended',
  expired: 'ended',
  cancelled: 'ended',
  failed: 'failed',
};
/** Moments that a batch passes, in seconds. */
export const openaiTimes = [
  'in_progress_at',
  'expires_at',
  'finalizing_at',
  'completed_at',
  'failed_at',
  'expired_at',
  'cancelling_at',
  'cancelled_at',
] as const;

/** https://developers.openai.com/api/reference/resources/batches */
function readOpenaiBatch({ status, body }: VendorAnswer): BatchReport | null {
  const said = status === 200 ? objectOf(body) : null;
  const state = said === null ? undefined : openaiStates[String(said['status'])];
  if (said === null || state === undefined || !isVendorName(said['id'])) return null;
  const counts = (said['request_counts'] ?? {}) as Record<string, unknown>;
  const times: Record<string, number> = {};
  for (const name of openaiTimes) {
    const at = said[name];
    if (typeof at === 'number' && Number.isSafeInteger(at) && at > 0) times[name] = at;
  }
  const moment = (...names: (typeof openaiTimes)[number][]): Date | null => {
    const at = names.map((name) => times[name]).find((seconds) => seconds !== undefined);
    return at === undefined ? null : new Date(at * 1_000);
  };
  return {
    vendorId: said['id'],
    state,
    counts: { succeeded: countOf(counts['completed']), errored: countOf(counts['failed']), canceled: 0, expired: 0 },
    expiresAt: moment('expires_at'),
    cancelAt: moment('cancelling_at', 'cancelled_at'),
    endedAt: moment('completed_at', 'expired_at', 'cancelled_at', 'failed_at'),
    outputId: isVendorName(said['output_file_id']) ? said['output_file_id'] : null,
    errorId: isVendorName(said['error_file_id']) ? said['error_file_id'] : null,
    times,
  };
}

export const vendorForms: Record<BatchForm, VendorForm> = { messages, openai };
