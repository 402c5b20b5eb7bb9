import type { BatchLine, VendorBatch, VendorBatches } from '../../billing/vendor-batches.ts';
import type { UpstreamRecord } from '../../catalog/route.ts';
import type { ReportedUsage } from '../../core/tokens.ts';
import { lineForClient, type ResultLine, readLineAnswer, readResultLine } from '../../wire/batches/batch-results.ts';
import { lineDigest } from './batch-ids.ts';
import { linesIn } from './vendor-calls.ts';
import { vendorForms } from './vendor-forms.ts';

/** Reads the results of a batch, line by line: for its settlement and for its client alike. Nothing of them is kept. */

/** A line of results with what is known of its request. */
export interface ReadLine {
  /** As its client gets it. */
  bytes: Uint8Array;
  result: ResultLine;
  line: BatchLine;
  /** Of an answer; null: there is none. */
  account: ReportedUsage | null;
}

/** Lines that are looked up together. */
const linesAtOnce = 200;
const bytesAtOnce = 4 * 1_048_576;

/**
 * The lines in groups, as they come. Lines of nobody (a vendor's fault) are left out; `strangers` counts them. Reading is
 * by pieces of one line, so that no turn of the event loop is long.
 */
export async function* readResults(
  batch: VendorBatch,
  upstream: Pick<UpstreamRecord, 'features'>,
  stream: AsyncIterable<Buffer>,
  store: Pick<VendorBatches, 'linesOf'>,
  strangers: { count: number },
): AsyncGenerator<ReadLine[]> {
  let group: { bytes: Buffer; result: ResultLine; digest: Buffer }[] = [];
  let length = 0;

  const read = async (): Promise<ReadLine[]> => {
    const known = await store.linesOf(
      batch,
      group.map(({ digest }) => digest),
    );
    const byDigest = new Map(known.map((line) => [line.digest.toString('hex'), line]));
    const lines = group.flatMap(({ bytes, result, digest }) => {
      const line = byDigest.get(digest.toString('hex'));
      if (line === undefined) {
        strangers.count += 1;
        return [];
      }
      return [readOne(batch, upstream, bytes, result, line)];
    });
    group = [];
    length = 0;
    return lines;
  };

  for await (const bytes of linesIn(stream)) {
    const result = readResultLine(bytes);
    if (result === null) {
      strangers.count += 1;
      continue;
    }
    group.push({ bytes, result, digest: lineDigest(batch.inputFile ?? batch.id, result.customId) });
    length += bytes.length;
    if (group.length >= linesAtOnce || length >= bytesAtOnce) yield await read();
  }
  if (group.length > 0) yield await read();
}

function readOne(
  batch: VendorBatch,
  { features }: Pick<UpstreamRecord, 'features'>,
  bytes: Buffer,
  result: ResultLine,
  line: BatchLine,
): ReadLine {
  const model = batch.models[line.model];
  if (result.ending !== 'succeeded' || model === undefined)
    return { bytes: lineForClient(bytes, result, []), result, line, account: null };
  const { account, edits } = readLineAnswer(bytes, result, vendorForms[batch.form].native(batch), {
    features,
    catalogModel: model.model,
    upstreamModel: model.upstreamModel,
    cacheWrite: line.longWrites ? '1h' : '5m',
  });
  return { bytes: lineForClient(bytes, result, edits), result, line, account };
}
