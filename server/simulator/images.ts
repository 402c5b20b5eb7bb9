/** Images as OpenAI makes them: https://platform.openai.com/docs/api-reference/images */

import type { StreamEvent } from './dialects/dialect.ts';
import type { Directives } from './directives.ts';
import { isObject, jsonOrUndefined, type ParsedObject, stringify, wordOf } from './json.ts';
import { invalidPrompt, type VendorError } from './prompt.ts';
import { countInputTokens } from './tokens.ts';

const MEMBERS = [
  'model prompt n size quality background output_format output_compression stream partial_images moderation user',
  'safety_identifier input_fidelity complexity',
]
  .join(' ')
  .split(' ');
/** Models of before, and those of other vendors, are told how to give an image back; these always give it as base64. */
const BASE64_ALONE = /gpt-image-/;
const QUALITIES = ['low', 'medium', 'high', 'xhigh', 'max', 'auto'];
const BACKGROUNDS = ['transparent', 'opaque', 'auto'];
const FORMATS = ['png', 'webp', 'jpeg'];
const MAX_PROMPT = 32_000;
const MAX_IMAGES = 10;
const MAX_PICTURES = 16;
const MAX_PARTIALS = 3;
const MAX_PICTURE_BYTES = 50 * 1_048_576;
const MAX_MASK_BYTES = 4 * 1_048_576;
/** Tokens of a square of 1,024 pixels by its quality, and of each first version of an image: https://developers.openai.com/api/docs/guides/image-generation */
const TOKENS: Record<string, number> = { low: 272, medium: 1_056, high: 4_160, xhigh: 6_240, max: 8_320 };
const PARTIAL_TOKENS = 100;
const PICTURE_TOKENS = 352;
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** What was asked for, as the vendor understands it. */
export interface AskedImages {
  model: string;
  prompt: string;
  n: number;
  size: string;
  quality: string;
  background: string;
  format: string;
  stream: boolean;
  partials: number;
  /** Pictures that came with it. */
  pictures: number;
  edits: boolean;
}

/** The members of a form as those of a JSON body; null: it is no form. */
export async function readForm(body: Buffer, contentType: string): Promise<ParsedObject | null> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => null);
  if (form === null) return null;
  const members: ParsedObject = {};
  for (const [name, value] of form) {
    const member = name === 'image[]' ? 'image' : name;
    if (typeof value === 'string') {
      const isNumber = ['n', 'partial_images', 'output_compression'].includes(member);
      members[member] = isNumber ? Number(value) : member === 'stream' ? value === 'true' : value;
    } else members[member] = [...((members[member] as File[] | undefined) ?? []), value];
  }
  return members;
}

/** Reads the body; a refusal is worded as the vendor words it. */
export function readImages(body: ParsedObject, edits: boolean): AskedImages | VendorError {
  const { image, images, mask, markup, response_format: responseFormat, ...plain } = body;
  const model = wordOf(plain['model']);
  const unknown =
    Object.keys(plain).find((name) => !MEMBERS.includes(name)) ??
    (edits
      ? null
      : Object.keys({ ...(image === undefined ? {} : { image }), ...(mask === undefined ? {} : { mask }) })[0]) ??
    (responseFormat !== undefined && BASE64_ALONE.test(model) ? 'response_format' : null);
  if (unknown != null)
    return { ...invalidPrompt(`Unknown parameter: '${unknown}'.`, unknown), code: 'unknown_parameter' };
  const prompt = plain['prompt'];
  if (typeof prompt !== 'string' || prompt === '')
    return { ...invalidPrompt("Missing required parameter: 'prompt'.", 'prompt'), code: 'missing_required_parameter' };
  if (prompt.length > MAX_PROMPT) return invalidPrompt(`Invalid 'prompt': string too long.`, 'prompt');
  const pictures = [image, images].flatMap((list) => (list === undefined ? [] : Array.isArray(list) ? list : [list]));
  const misfit = edits ? misfitOf(pictures, mask) : null;
  if (misfit !== null) return misfit;
  const { n = 1, size = 'auto', quality = 'auto', background = 'auto', output_format: format = 'png' } = plain;
  const { partial_images: partials = 0, stream = false } = plain;
  if (!isWithin(n, 1, MAX_IMAGES)) return invalidValue('n', n, `an integer from 1 to ${MAX_IMAGES}`);
  if (!isWithin(partials, 0, MAX_PARTIALS)) return invalidValue('partial_images', partials, 'an integer from 0 to 3');
  if (!QUALITIES.includes(wordOf(quality))) return invalidValue('quality', quality, QUALITIES.join(', '));
  if (!BACKGROUNDS.includes(wordOf(background))) return invalidValue('background', background, BACKGROUNDS.join(', '));
  if (!FORMATS.includes(wordOf(format))) return invalidValue('output_format', format, FORMATS.join(', '));
  if (!isSize(wordOf(size))) return invalidValue('size', size, 'WIDTHxHEIGHT or auto');
  if (background === 'transparent' && format === 'jpeg')
    return invalidPrompt('Transparent background is not supported for JPEG output format.', 'background');
  return {
    model,
    prompt,
    n: Number(n),
    size: size === 'auto' ? '1024x1024' : wordOf(size),
    quality: quality === 'auto' ? 'high' : wordOf(quality),
    background: background === 'auto' ? 'opaque' : wordOf(background),
    format: wordOf(format),
    stream: stream === true,
    partials: Number(partials),
    pictures: pictures.length + [mask, markup].filter((each) => each !== undefined).length,
    edits,
  };
}

function misfitOf(pictures: unknown[], mask: unknown): VendorError | null {
  if (pictures.length === 0)
    return { ...invalidPrompt("Missing required parameter: 'image'.", 'image'), code: 'missing_required_parameter' };
  if (pictures.length > MAX_PICTURES) return invalidPrompt(`Invalid 'image': at most ${MAX_PICTURES} images.`, 'image');
  for (const picture of pictures) {
    if (picture instanceof Blob && !/^image\/(?:png|webp|jpeg)$/.test(picture.type))
      return invalidPrompt(
        `Invalid file 'image': unsupported mimetype ('${picture.type}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.`,
        'image',
      );
    if (picture instanceof Blob && picture.size > MAX_PICTURE_BYTES)
      return invalidPrompt('Image is too large.', 'image');
    if (isObject(picture) && !(picture instanceof Blob) && typeof picture['image_url'] !== 'string')
      return invalidPrompt("Missing required parameter: 'images[0].image_url'.", 'images');
  }
  const [file] = Array.isArray(mask) ? mask : [mask];
  return file instanceof Blob && (file.type !== 'image/png' || file.size > MAX_MASK_BYTES)
    ? invalidPrompt("Invalid file 'mask': must be a PNG of less than 4MB.", 'mask')
    : null;
}

const isWithin = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;

/** Both sides are multiples of 16 and at most 3 to 1: https://developers.openai.com/api/docs/guides/image-generation#size-and-quality-options */
function isSize(size: string): boolean {
  if (size === 'auto') return true;
  const [, width = 0, height = 0] = (/^(\d+)x(\d+)$/.exec(size) ?? []).map(Number);
  return (
    width > 0 &&
    height > 0 &&
    (width % 16) + (height % 16) === 0 &&
    Math.max(width, height) <= 3_840 &&
    Math.max(width, height) <= 3 * Math.min(width, height)
  );
}

function invalidValue(param: string, value: unknown, supported: string): VendorError {
  return {
    ...invalidPrompt(`Invalid value: '${String(value)}'. Supported values are: ${supported}.`, param),
    code: 'invalid_value',
  };
}

/** Tokens of what was asked for; `made`: of images. */
export function usageOfImages(ask: AskedImages, made: number, directives: Directives): unknown {
  if (directives.usageJson !== null) return jsonOrUndefined(directives.usageJson);
  const text = countInputTokens(ask.prompt);
  const pictures = ask.pictures * PICTURE_TOKENS;
  const output = made * (TOKENS[ask.quality] ?? 0) + (ask.stream ? made * ask.partials * PARTIAL_TOKENS : 0);
  return {
    input_tokens: text + pictures,
    input_tokens_details: { image_tokens: pictures, text_tokens: text },
    output_tokens: output,
    output_tokens_details: { image_tokens: output, text_tokens: 0 },
    total_tokens: text + pictures + output,
  };
}

/** A picture, as large as what is to be said is long. */
const picture = ({ say }: Directives): string =>
  Buffer.concat([PIXEL, Buffer.alloc(Buffer.byteLength(say ?? ''))]).toString('base64');

const formOf = ({ size, quality, background, format }: AskedImages) => ({
  size,
  quality,
  background,
  output_format: format,
});

/** The whole answer. */
export function writeImages(ask: AskedImages, directives: Directives, created: number): Buffer {
  const usage = usageOfImages(ask, ask.n, directives);
  const data = Array.from({ length: ask.n }, () => ({ b64_json: picture(directives) }));
  return Buffer.from(stringify({ created, ...formOf(ask), data, ...(directives.noUsage ? {} : { usage }) }));
}

/** The same as events: https://platform.openai.com/docs/api-reference/images-streaming */
export function* imageEvents(ask: AskedImages, directives: Directives, created: number): Iterable<StreamEvent> {
  const kind = ask.edits ? 'image_edit' : 'image_generation';
  const event = (name: string, more: object): StreamEvent => ({
    name: `${kind}.${name}`,
    data: stringify({
      type: `${kind}.${name}`,
      b64_json: picture(directives),
      created_at: created,
      ...formOf(ask),
      ...more,
    }),
    tokens: 0,
    counted: true,
  });
  for (let made = 0; made < ask.n; made += 1) {
    for (let index = 0; index < ask.partials; index += 1) yield event('partial_image', { partial_image_index: index });
    yield event('completed', directives.noUsage ? {} : { usage: usageOfImages(ask, 1, directives) });
  }
}
