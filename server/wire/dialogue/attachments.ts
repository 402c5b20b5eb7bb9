import type { CacheMark, ContentPart, DocumentPart, ImagePart } from './dialogue.ts';
import { decodeBase64Text, isWebAddress, parseDataUrl } from './media.ts';
import { refuse } from './refusal.ts';

/** An image as the OpenAI protocols write it: a web address or a `data:` address. */
export function readImageUrl(
  url: string,
  { detail, cache, at }: { detail: string | null; cache: CacheMark | null; at: string },
): ImagePart {
  const inline = parseDataUrl(url);
  if (inline !== null) return { kind: 'image', source: { kind: 'base64', ...inline }, detail, cache, at };
  if (!isWebAddress(url)) refuse(at, 'must be an http(s) or a data: address', 'invalid_value');
  return { kind: 'image', source: { kind: 'url', url }, detail, cache, at };
}

/** A file as the OpenAI protocols write it: the type stands in its `data:` address; bare base64 is taken for a PDF. */
export function readFile(
  data: string,
  { filename, cache, at }: { filename: string | null; cache: CacheMark | null; at: string },
): ContentPart {
  const { mediaType, data: base64 } = parseDataUrl(data) ?? { mediaType: 'application/pdf', data };
  const document: Omit<DocumentPart, 'source'> = { kind: 'document', title: filename, context: null, cache, at };
  if (mediaType === 'application/pdf') return { ...document, source: { kind: 'base64', mediaType, data: base64 } };
  if (mediaType.startsWith('image/')) {
    return { kind: 'image', source: { kind: 'base64', mediaType, data: base64 }, detail: null, cache, at };
  }
  if (mediaType.startsWith('text/')) return { ...document, source: { kind: 'text', text: decodeBase64Text(base64) } };
  return refuse(
    at,
    `files of ${mediaType.length > 64 ? 'that type' : `type "${mediaType}"`} are not supported for this model`,
  );
}
