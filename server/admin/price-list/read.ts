/** Reads a public price list from a file or an address that the operator names. */

import { createReadStream } from 'node:fs';
import { parseExactJson } from './decimal.ts';
import { isLiteLlm, readLiteLlm } from './litellm.ts';
import { isModelsDev, readModelsDev } from './models-dev.ts';
import { isOpenRouter, readOpenRouter } from './openrouter.ts';
import { isObject, type VendorPriceList } from './price-list.ts';

/** The list cannot be read at all; the message says why. */
export class PriceListError extends Error {
  override name = 'PriceListError';
}

export interface ReadOptions {
  /** Takes `http://` addresses, too. */
  allowPlain: boolean;
  /** The longest list that is read, after decompression; 64 MB when left out. */
  maxBytes?: number;
  /** The time for the whole list from an address; a minute when left out. */
  timeoutMs?: number;
}

/** `from`: a path, or an address that begins with `https://` (`http://` with `allowPlain`). Follows no redirects. */
export async function readPriceList(
  from: string,
  { allowPlain, maxBytes = 64 * 1024 * 1024, timeoutMs = 60_000 }: ReadOptions,
): Promise<VendorPriceList> {
  const isAddress = /^https?:\/\//.test(from);
  if (from.startsWith('http://') && !allowPlain) {
    throw new PriceListError('A price list is fetched over https:// (http:// needs ALLOW_PRIVATE_UPSTREAMS=1)');
  }
  return parsePriceList(isAddress ? await fetchText(from, maxBytes, timeoutMs) : await fileText(from, maxBytes));
}

/** Tells the format by its shape. */
export function parsePriceList(text: string): VendorPriceList {
  let list: unknown;
  try {
    list = parseExactJson(text);
  } catch {
    throw new PriceListError('The price list is not JSON');
  }
  if (isObject(list) && isModelsDev(list)) return readModelsDev(list);
  if (isObject(list) && isOpenRouter(list)) return readOpenRouter(list);
  if (isObject(list) && isLiteLlm(list)) return readLiteLlm(list);
  throw new PriceListError(
    'The price list is neither models.dev’s api.json nor LiteLLM’s model_prices_and_context_window.json nor OpenRouter’s answer of /api/v1/models',
  );
}

async function fileText(path: string, maxBytes: number): Promise<string> {
  try {
    return await boundedText(createReadStream(path), maxBytes);
  } catch (error) {
    if (error instanceof PriceListError) throw error;
    throw new PriceListError(
      `The price list cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})`,
    );
  }
}

/**
 * A redirect could lead to plain HTTP or to an address of the inner network, which the operator did not name: it is
 * refused.
 */
async function fetchText(address: string, maxBytes: number, timeoutMs: number): Promise<string> {
  try {
    const answer = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    if (answer.ok) return await boundedText(answer.body ?? [], maxBytes);
    await answer.body?.cancel();
    const isRedirect = answer.status >= 300 && answer.status < 400;
    throw new PriceListError(
      isRedirect
        ? `The price list’s address redirects (${answer.status}), which is not followed: name the address of the list itself`
        : `The price list’s address answered with ${answer.status}`,
    );
  } catch (error) {
    if (error instanceof PriceListError) throw error;
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    throw new PriceListError(
      isLate
        ? `The price list’s address did not send the list within ${timeoutMs / 1_000} s`
        : 'The price list’s address does not answer',
    );
  }
}

async function boundedText(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<string> {
  const read: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new PriceListError(`The price list is longer than ${maxBytes / 1024 / 1024} MB`);
    read.push(chunk);
  }
  return Buffer.concat(read).toString('utf8');
}
