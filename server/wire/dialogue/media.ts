/** Media as `data:` addresses (the OpenAI protocols) and as base64 with a type beside it (the Messages protocol). */

export interface InlineMedia {
  mediaType: string;
  /** Standard base64 without prefix. */
  data: string;
}

export function dataUrl({ mediaType, data }: InlineMedia): string {
  return `data:${mediaType};base64,${data}`;
}

/** Takes a `data:` address apart; null when it is none. The prefix must go: vendors take the bare base64 only. */
export function parseDataUrl(url: string): InlineMedia | null {
  if (url.slice(0, 5).toLowerCase() !== 'data:') return null;
  const comma = url.indexOf(',');
  if (comma < 0) return null;
  const [type = '', ...parameters] = url.slice(5, comma).split(';');
  const mediaType = type.trim().toLowerCase() || 'text/plain';
  const data = url.slice(comma + 1);
  if (parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')) return { mediaType, data };
  try {
    return { mediaType, data: Buffer.from(decodeURIComponent(data), 'utf8').toString('base64') };
  } catch {
    return null;
  }
}

export function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

export function decodeBase64Text(data: string): string {
  return Buffer.from(data, 'base64').toString('utf8');
}
