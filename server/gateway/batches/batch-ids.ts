import { createHash } from 'node:crypto';
import type { BatchForm } from '../../billing/vendor-batches.ts';

/** Names of batches as clients see them, and the ids that follow from them. The vendor's own names never get out. */

const prefixes: Record<BatchForm, string> = { messages: 'msgbatch_', openai: 'batch_' };

/** The name of a batch, from its id: a UUID without its dashes. */
export function batchName(form: BatchForm, id: string): string {
  return prefixes[form] + id.replaceAll('-', '');
}

/** The id in a name; null: no batch is called so. */
export function batchIdOf(form: BatchForm, name: string): string | null {
  return name.startsWith(prefixes[form]) ? uuidOf(name.slice(prefixes[form].length)) : null;
}

function uuidOf(hex: string): string | null {
  if (!/^[0-9a-f]{12}7[0-9a-f]{19}$/.test(hex)) return null;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** `input`: as uploaded; the others are the results of a batch. */
export type FileKind = 'input' | 'output' | 'error';
const fileMarks: Record<FileKind, string> = { input: 'i', output: 'o', error: 'e' };

/** The name of a file, from the id of the file or of the batch whose results it has. */
export function fileName(kind: FileKind, id: string): string {
  return `file-${fileMarks[kind]}${id.replaceAll('-', '')}`;
}

export function fileIdOf(name: string): { kind: FileKind; id: string } | null {
  for (const kind of ['input', 'output', 'error'] as const) {
    const prefix = `file-${fileMarks[kind]}`;
    const id = name.startsWith(prefix) ? uuidOf(name.slice(prefix.length)) : null;
    if (id !== null) return { kind, id };
  }
  return null;
}

/** What is kept of the name that a client gave a line: nothing can be read from it. `sourceId`: the batch, or the file of its lines. */
export function lineDigest(sourceId: string, customId: string): Buffer {
  return createHash('sha256').update(sourceId).update('\0').update(customId).digest();
}

/**
 * The request's id of a line, the same whenever its result is read: so its entry is written once. Its time is that at which the
 * batch was first seen to have ended, because the ledger and its checks are in the order of such times.
 */
export function lineRequestId(seenAt: Date, batchId: string, digest: Buffer): string {
  const hash = createHash('sha256').update(batchId).update(digest).digest();
  const time = seenAt.getTime().toString(16).padStart(12, '0');
  const a = (0x7000 | (hash.readUInt16BE(0) & 0x0fff)).toString(16);
  const b = (0x8000 | (hash.readUInt16BE(2) & 0x3fff)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${a}-${b}-${hash.toString('hex', 4, 10)}`;
}
