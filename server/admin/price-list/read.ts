/** Reads a public price list from a file or an address that the operator names. */

import { readFile } from 'node:fs/promises';
import { parseExactJson } from './decimal.ts';
import { isLiteLlm, readLiteLlm } from './litellm.ts';
import { isModelsDev, readModelsDev } from './models-dev.ts';
import { isObject, type VendorPriceList } from './price-list.ts';

/** The list cannot be read at all; the message says why. */
export class PriceListError extends Error {
  override name = 'PriceListError';
}

const maxBytes = 64 * 1024 * 1024;
const timeoutMs = 60_000;

/** `from`: a path, or an address that begins with `https://` (`http://` with `allowPlain`). */
export async function readPriceList(from: string, { allowPlain }: { allowPlain: boolean }): Promise<VendorPriceList> {
  const isAddress = /^https?:\/\//.test(from);
  if (from.startsWith('http://') && !allowPlain) {
    throw new PriceListError('A price list is fetched over https:// (http:// needs ALLOW_PRIVATE_UPSTREAMS=1)');
  }
  return parsePriceList(isAddress ? await fetchText(from) : await fileText(from));
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
  if (isObject(list) && isLiteLlm(list)) return readLiteLlm(list);
  throw new PriceListError(
    'The price list is neither models.dev’s api.json nor LiteLLM’s model_prices_and_context_window.json',
  );
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new PriceListError(
      `The price list cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})`,
    );
  }
}

async function fetchText(address: string): Promise<string> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) throw new PriceListError(`The price list’s address answered with ${answer.status}`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new PriceListError('The price list is longer than 64 MB');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    if (error instanceof PriceListError) throw error;
    throw new PriceListError('The price list’s address does not answer');
  }
}
