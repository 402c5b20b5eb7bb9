import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { NewBatchFile } from '../../billing/vendor-batches.ts';
import { credentialHeaders } from '../../core/protocol.ts';
import type { Principal } from '../../keys/keyring.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { FormFault, formParts } from '../../wire/form-parts.ts';
import { JsonFault, leaf, scanJson, shape, textOf } from '../../wire/json.ts';
import type { ReadCall } from '../read.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import type { BatchGathererParts } from './batch-request.ts';
import { type BatchGatherer, type BatchPlace, createBatchGatherer } from './batch-request.ts';
import { linesIn, type VendorAnswer, VendorAway, type VendorCalls } from './vendor-calls.ts';
import { isVendorName, objectOf } from './vendor-forms.ts';

/**
 * Sends the file of a batch to its vendor while it arrives: each line is read, bounded and given the vendor's name of its model, and
 * no more than a line of it is in memory. The first line decides where it goes. What is refused half-way was never whole there.
 */
export type SendBatchFile = (
  sending: SendingFile,
) => Promise<{ file: NewBatchFile; gathered: BatchGatherer } | Refusal>;

export interface SendingFile {
  principal: Principal;
  form: AsyncIterable<Buffer>;
  boundary: string;
  call: Omit<ReadCall, 'bytes' | 'protocol' | 'asks'>;
}

export interface SendBatchFileParts {
  calls: VendorCalls;
  read: BatchGathererParts['read'];
  refusals: Refusals;
}

/** As at the vendor: https://developers.openai.com/api/docs/guides/batch#1-prepare-your-batch-file */
export const maxFileBytes = 200 * 1_048_576;
const maxLines = 50_000;
/** One request, which is in memory. */
const maxLineBytes = 8 * 1_048_576;

/** What lines may ask for, and in which protocol it is read. */
export const batchEndpoints: Record<string, Pick<ReadCall, 'protocol' | 'asks'>> = {
  '/v1/chat/completions': { protocol: 'chat-completions', asks: 'text' },
  '/v1/responses': { protocol: 'responses', asks: 'text' },
  '/v1/embeddings': { protocol: 'chat-completions', asks: 'embedding' },
};

const lineShape = { ...shape({ custom_id: leaf, method: leaf, url: leaf, body: leaf }), every: true };
const lineLimits = { maxDepth: 128, maxValues: 500_000, refuseDuplicates: true };
const lineMembers = new Set(['custom_id', 'method', 'url', 'body']);

/** A refusal from any depth. */
class Stopped extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.name);
    this.refusal = refusal;
  }
}

interface Upload {
  stream: PassThrough;
  answer: Promise<VendorAnswer>;
  boundary: string;
}

export function createBatchFileSending({ calls, read, refusals }: SendBatchFileParts): SendBatchFile {
  const begin = (place: BatchPlace): Upload => {
    const boundary = `steyg-${randomUUID()}`;
    const stream = new PassThrough();
    const answer = calls.ask(place, {
      method: 'POST',
      path: '/files',
      headers: {
        ...credentialHeaders('chat-completions', place.key?.secret ?? null),
        'content-type': `multipart/form-data; boundary=${boundary}`,
      },
      body: stream,
    });
    // Whoever writes sees it; until then it must not end the process.
    answer.catch(() => undefined);
    stream.on('error', () => undefined);
    stream.write(
      `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n` +
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="batch.jsonl"\r\ncontent-type: application/jsonl\r\n\r\n`,
    );
    return { stream, answer, boundary };
  };

  /** Waits until the vendor takes more. Throws when it has answered before it had everything. */
  const write = async ({ stream, answer }: Upload, bytes: Uint8Array | string): Promise<void> => {
    if (stream.write(bytes)) return;
    const early = answer.then(() => Promise.reject(new VendorAway(true)));
    await Promise.race([once(stream, 'drain'), early]);
  };

  return async ({ form, boundary, call, principal }) => {
    const id = uuidv7();
    const stop = (refusal: Refusal): never => {
      throw new Stopped(refusal);
    };
    const invalid = (message: string, param: string | null = null): never =>
      stop(refusals.invalidRequest(message, param));
    let gathered: BatchGatherer | null = null;
    let endpoint = '';
    let upload: Upload | null = null;
    let bytes = 0;
    let purpose: string | null = null;

    const takeLine = async (line: Buffer): Promise<void> => {
      const name = `line ${(gathered?.lines.length ?? 0) + 1}`;
      if ((gathered?.lines.length ?? 0) >= maxLines) invalid(`file: may have at most ${maxLines} lines`, 'file');
      const one = readLine(line, name, invalid);
      if (gathered === null) {
        const reading = batchEndpoints[one.url];
        if (reading === undefined)
          return invalid(`${name}: url: must be one of ${Object.keys(batchEndpoints).join(', ')}`, 'url');
        endpoint = one.url;
        gathered = createBatchGatherer({ read, refusals, call: { ...call, ...reading }, sourceId: id });
      } else if (one.url !== endpoint) invalid(`${name}: url: must be ${endpoint}, as in the first line`, 'url');
      const taken = await gathered.take(one.customId, one.body, name);
      if ('status' in taken) return stop(taken);
      if (upload === null) {
        if (gathered.place === null) throw new Error('a line was taken and has no place');
        upload = begin(gathered.place);
      }
      await write(
        upload,
        `{"custom_id":${JSON.stringify(one.customId)},"method":"POST","url":${JSON.stringify(endpoint)},"body":`,
      );
      await write(upload, taken.body);
      await write(upload, '}\n');
    };

    const takeFile = async (body: AsyncIterable<Buffer>): Promise<void> => {
      if (upload !== null) invalid('file: must be one file', 'file');
      const counted = async function* () {
        for await (const piece of body) {
          bytes += piece.length;
          if (bytes > maxFileBytes) stop(refusals.requestTooLarge(maxFileBytes));
          yield piece;
        }
      };
      const tooLong = () =>
        new Stopped(refusals.invalidRequest(`file: a line may have at most ${maxLineBytes / 1_048_576} MB`, 'file'));
      for await (const line of linesIn(counted(), maxLineBytes, tooLong)) await takeLine(line);
    };

    try {
      for await (const { name, body } of formParts(form, boundary)) {
        if (name === 'file') await takeFile(body);
        else if (name === 'purpose') {
          purpose = await shortText(body);
          if (purpose !== 'batch') invalid("purpose: must be 'batch': files are taken for batches alone", 'purpose');
        } else invalid(`${name.slice(0, 64)}: is not taken for files of batches; leave it out`);
      }
      if (purpose === null) invalid("purpose: is required, and must be 'batch'", 'purpose');
      const found = sentOf(upload, gathered);
      if (found === null) return refusals.invalidRequest('file: must have at least one line', 'file');
      found.upload.stream.end(`\r\n--${found.upload.boundary}--\r\n`);
      const answer = await found.upload.answer;
      const vendorId = answer.status === 200 ? objectOf(answer.body)?.['id'] : null;
      if (!isVendorName(vendorId)) return refusals.upstreamUnavailable();
      const { place, lines, models, bound } = found.gathered;
      if (place === null) throw new Error('a file was sent nowhere');
      return {
        gathered: found.gathered,
        file: {
          accountId: principal.accountId,
          id,
          keyId: principal.keyId,
          endpoint,
          upstream: place.upstream.id,
          upstreamKey: place.key?.id ?? null,
          vendorId,
          bytes,
          lines: lines.length,
          bound,
          models,
        },
      };
    } catch (error) {
      // The vendor gets no end of it.
      sentOf(upload, gathered)?.upload.stream.destroy(new Error('a file was not sent to its end'));
      if (error instanceof Stopped) return error.refusal;
      if (error instanceof FormFault) return refusals.invalidRequest(error.message);
      if (error instanceof VendorAway) return refusals.upstreamUnavailable();
      throw error;
    }
  };
}

/** A function, because assignments in closures are not seen by the checker of types. */
function sentOf(
  upload: Upload | null,
  gathered: BatchGatherer | null,
): { upload: Upload; gathered: BatchGatherer } | null {
  return upload === null || gathered === null ? null : { upload, gathered };
}

async function shortText(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length <= 1_024) pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function readLine(
  line: Buffer,
  name: string,
  invalid: (message: string, param?: string | null) => never,
): { customId: string; url: string; body: Buffer } {
  try {
    const { kind, members } = scanJson(line, lineShape, lineLimits);
    if (kind !== 'object') return invalid(`${name}: must be a JSON object`);
    const other = [...members.keys()].find((member) => !lineMembers.has(member));
    if (other !== undefined) return invalid(`${name}: has other members than custom_id, method, url and body`);
    const customId = textOf(line, members.get('custom_id'));
    if (customId === null || customId.length === 0 || customId.length > 512)
      return invalid(`${name}: custom_id: must be a text of 1 to 512 characters`, 'custom_id');
    if (textOf(line, members.get('method')) !== 'POST') return invalid(`${name}: method: must be POST`, 'method');
    const body = members.get('body');
    if (body?.kind !== 'object') return invalid(`${name}: body: must be an object`, 'body');
    return { customId, url: textOf(line, members.get('url')) ?? '', body: line.subarray(body.start, body.end) };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return invalid(`${name}: cannot be read: ${error.message}`);
  }
}

/** Reads what is left of a body that is refused, so that its client reads the answer. */
export function readToItsEnd(payload: Readable): void {
  payload.on('error', () => undefined);
  payload.resume();
}
