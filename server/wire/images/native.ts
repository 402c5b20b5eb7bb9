import { type ImagePath, imagePaths } from '../../core/protocol.ts';
import type { ReportedUsage } from '../../core/tokens.ts';
import { removeMembers } from '../body.ts';
import { nativeChatCompletions } from '../chat-completions/native.ts';
import { isNothing } from '../generated.ts';
import { leaf, listOf, shape, textOf, tryScanJson, valueOf } from '../json.ts';
import { answerLimits, type NativeProtocol, nativeWire } from '../native.ts';
import type { Wire, WireContext } from '../protocol.ts';
import { sseEvent } from '../streams/sse.ts';
import { readImageUsage, reportedAs } from '../usage.ts';
import { type PictureForm, writeImageForm } from './form.ts';
import { createImageStream } from './stream.ts';

/**
 * Images, which vendors of chat completions and responses make beside them: bytes pass, `model` is spliced, images and their usage are
 * counted. https://platform.openai.com/docs/api-reference/images
 */
function nativeImages(path: ImagePath, sentImages: boolean): NativeProtocol {
  return {
    protocol: 'chat-completions',
    path: imagePaths[path],
    requestEdits: (raw, { members }, context) =>
      leftOutOf(context, textOf(raw, memberNode(members.get('response_format')))).length === 0
        ? []
        : removeMembers(members, ['response_format']),
    reply: {
      shape: shape({
        model: leaf,
        usage: leaf,
        error: shape(),
        size: leaf,
        quality: leaf,
        data: listOf(shape({ b64_json: leaf, url: leaf })),
      }),
      list: 'data',
      noun: 'images',
      countItem(generated, item) {
        if (isNothing(item.members.get('b64_json')) && isNothing(item.members.get('url'))) return;
        generated.images = (generated.images ?? 0) + 1;
        generated.pieces += 1;
      },
      usage: (root) => root.members.get('usage'),
      readUsage: (reported) => readImageUsage(reported, sentImages),
      imageForm: (data, root) => ({
        quality: textOf(data, root.members.get('quality')),
        size: textOf(data, root.members.get('size')),
      }),
    },
    // Their streams are read in `stream.ts`.
    stream: nativeChatCompletions.stream,
  };
}

const memberNode = (span: { start: number; end: number } | undefined) =>
  span === undefined ? undefined : { kind: 'string' as const, ...span, keyStart: -1, members: new Map(), items: [] };

/** These answer with base64 alone and refuse a request that says so: https://platform.openai.com/docs/api-reference/images/create */
const base64Alone = /^(?:chat)?gpt-image-/;

function leftOutOf({ upstreamModel }: Pick<WireContext, 'upstreamModel'>, format: string | null): string[] {
  return format === 'b64_json' && base64Alone.test(upstreamModel) ? ['response_format'] : [];
}

const refusalShape = shape({ usage: leaf, error: shape({ usage: leaf }) });

/** What a refusal says that it costs: a picture that the vendor's moderation stopped may be billed. */
function billedIn(body: Uint8Array, sentImages: boolean): ReportedUsage | null {
  const root = tryScanJson(body, refusalShape, answerLimits);
  const usage = root?.members.get('usage') ?? root?.members.get('error')?.members.get('usage');
  const reading = usage?.kind === 'object' ? readImageUsage(valueOf(body, usage), sentImages) : null;
  if (reading === null) return null;
  return { ...reportedAs(reading, 'none'), partial: false, outputBytes: 0, outputPieces: 0, model: null };
}

const wholeShape = shape({
  created: leaf,
  background: leaf,
  output_format: leaf,
  size: leaf,
  quality: leaf,
  usage: leaf,
  error: shape(),
  data: listOf(shape({ b64_json: leaf, url: leaf })),
});

/** A whole answer as the events of a stream, the usage in the last one; null: it is no answer. */
function eventsOfWhole(path: ImagePath, body: Uint8Array) {
  const root = tryScanJson(body, wholeShape, answerLimits);
  const items = root?.members.get('data')?.items ?? [];
  if (root === null || items.length === 0 || !isNothing(root.members.get('error'))) return null;
  const type = path === 'edits' ? 'image_edit.completed' : 'image_generation.completed';
  const textAt = (node: { start: number; end: number } | undefined): string =>
    node === undefined
      ? 'null'
      : Buffer.from(body.buffer, body.byteOffset + node.start, node.end - node.start).toString('utf8');
  const facts = ['background', 'output_format', 'size', 'quality'].flatMap((name) => {
    const node = root.members.get(name);
    return node === undefined ? [] : [`,"${name}":${textAt(node)}`];
  });
  return items.map((item, index) => {
    const usage = index === items.length - 1 ? root.members.get('usage') : undefined;
    const data = [
      `{"type":"${type}","created_at":${textAt(root.members.get('created'))}`,
      ...facts,
      ...(usage === undefined ? [] : [`,"usage":${textAt(usage)}`]),
      `,"b64_json":${textAt(item.members.get('b64_json'))}`,
      ...(item.members.has('url') ? [`,"url":${textAt(item.members.get('url'))}`] : []),
      '}',
    ].join('');
    return { bytes: Buffer.from(sseEvent(type, data)), weight: 1 };
  });
}

/** A boundary that no client knows, from a key of the service. */
const boundaryOf = ({ digest, requestId }: WireContext): string =>
  `steyg${digest('form boundary', requestId)
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 40)}`;

/** The wire of one request for images. `form`: it came as a form; null: as JSON. */
export function imagesWire(path: ImagePath, form: PictureForm | null): Wire {
  return {
    client: 'chat-completions',
    upstream: 'chat-completions',
    request(raw, facts, context) {
      const sentImages = facts.images > 0;
      const request = nativeWire(nativeImages(path, sentImages)).request(raw, facts, context);
      if (!request.ok) return request;
      const format = textOf(raw, memberNode(facts.members.get('response_format')));
      return {
        ok: true,
        exchange: {
          ...request.exchange,
          ...(form === null
            ? {}
            : writeImageForm(form, context.upstreamModel, leftOutOf(context, format), boundaryOf(context))),
          stream: () => createImageStream({ facts, context, sentImages }),
          eventsOfWhole: (body) => eventsOfWhole(path, body),
          billed: (body) => billedIn(body, sentImages),
        },
      };
    },
  };
}
