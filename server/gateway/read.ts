import type { Catalog, CatalogModel, PricedModel } from '../catalog/catalog.ts';
import { openTools } from '../catalog/hosted-tools.ts';
import { callIdMaxOf, compactsItself } from '../catalog/profiles/profiles.ts';
import type { Candidates, Router, Target } from '../catalog/router.ts';
import type { ModelKind } from '../core/kind.ts';
import { toolImageBound } from '../core/made-image-cost.ts';
import type { Protocol } from '../core/protocol.ts';
import type { ToolImageBound } from '../core/request.ts';
import { boundOf, mayRunOthers } from '../metering/bound.ts';
import { isJsonContentType } from '../runtime/http.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import { createTextSeal, type TextDigest, type TextSeal } from '../shared/text-seal.ts';
import { type Purpose, scanBody } from '../wire/body.ts';
import { boundedUses } from '../wire/hosted-tools.ts';
import { type PictureForm, readImageForm } from '../wire/images/form.ts';
import { imagesWire } from '../wire/images/native.ts';
import type { BodyKind } from '../wire/members.ts';
import type { RequestFacts, Wire, WireContext, WireExchange, WireProblem } from '../wire/protocol.ts';
import { compactingExchange, openCompaction, userItemsOf } from '../wire/responses/compaction.ts';
import { embeddingsWire, wireFor } from '../wire/wires.ts';
import type { ClientCall, ModelRequest, Prepared } from './call.ts';
import { attributionOf, rememberDigests } from './entrance/attribution.ts';
import type { Standing } from './entrance/standing.ts';
import { createCpuShares } from './load/cpu-shares.ts';
import {
  allowedWith,
  longPromptProblem,
  passGates,
  problemRefusal,
  withGuess,
  withoutLongPromptBeta,
} from './refusals/problem.ts';
import type { Refusal, Refusals } from './refusals/refusals.ts';
import { isSameModel } from './upstream/reported-model.ts';
import { stickiness } from './upstream/stickiness.ts';

/**
 * Step one of a request: resolves model and route, from one scan of the bytes, the catalog and the router. Nothing is
 * held or sent yet, so a refusal costs nothing.
 */
export interface ReaderParts {
  catalog: Catalog;
  router: Router;
  refusals: Refusals;
  standing: Pick<Standing, 'ask' | 'unlessDeleted' | 'unlessExhausted'>;
  /** Keyed digest; `scope` separates its uses. */
  digest: TextDigest;
  /** Those of earlier secret keys: what clients keep may be sealed with one. */
  earlierDigests?: readonly TextDigest[];
  metrics: Pick<Metrics, 'unknownMember'>;
}

/** The parts of a call that reading it needs. */
export type ReadCall = Pick<
  ClientCall,
  | 'protocol'
  | 'asks'
  | 'imagePath'
  | 'compacts'
  | 'principal'
  | 'requestId'
  | 'bytes'
  | 'rawHeaders'
  | 'headers'
  | 'numericCodes'
  | 'version'
>;

/** A body of this size may take milliseconds to scan or to translate: one in each turn of the event loop. */
const largeBytes = 65_536;

/** The version of the messages protocol that removed the sampling fields. */
const versionWithoutSampling = '2026-10-21';
const samplingFields = ['temperature', 'top_p', 'top_k'];

export function createReader(parts: ReaderParts) {
  const { catalog, router, refusals, standing, digest, earlierDigests = [], metrics } = parts;
  const shares = createCpuShares();
  const attributionDigest = rememberDigests(digest);
  const fromProblem = (problem: WireProblem): Refusal => problemRefusal(refusals, problem);

  /** A function of its own, so that an exchange keeps nothing of the client's call in memory. */
  const digestOf =
    (accountId: string, by = digest): TextDigest =>
    (scope, text) =>
      by(`${scope}:${accountId}`, text);

  const prepare = (
    call: ReadCall,
    { facts, form, json }: Scanned,
    { model, drawn }: Asked,
    target: Target,
  ): Prepared | WireProblem => {
    const { upstream } = target.route;
    // Upstreams of both of OpenAI's protocols have what is beside them at the same addresses.
    const isBeside = call.asks !== 'text';
    if (isBeside && upstream.protocol === 'messages') return noRoute(call.asks);
    const translated = upstream.protocol !== call.protocol && !isBeside;
    const digestOfAccount = digestOf(call.principal.accountId);
    const seal = createTextSeal(
      digestOfAccount,
      earlierDigests.map((by) => digestOf(call.principal.accountId, by)),
    );
    const isOwn = translated || !compactsItself(upstream.profile, call.protocol);
    const opened = openCompaction(json ?? call.bytes.raw, facts, { seal, isOwn });
    const passing = opened.facts.gates.length === 0 ? noTools : allowedWith(openTools(model, upstream), drawn.open);
    const terms = translated ? model : { ...model, allow: drawn.allow };
    const leftOut = passGates(opened.raw, opened.facts, terms, translated ? null : passing);
    if (leftOut !== null && 'message' in leftOut) return leftOut;
    const problem = translated ? versionProblem(call, facts) : longPromptProblem(betasOf(call), facts, model);
    if (problem !== null) return problem;
    const context: WireContext = {
      ...contextOf(model, target),
      digest: digestOfAccount,
      requestId: call.requestId,
      statusUrl: refusals.statusUrl,
      errorsInChunks: call.numericCodes,
      ...(leftOut === null ? {} : { leftOut }),
    };
    const wire = wireOf(call, upstream.protocol, form);
    const request = wire.request(opened.raw, opened.facts, context);
    if (!request.ok) return request.problem;
    return { target, exchange: withCompaction(request.exchange, { call, facts, context, seal, isOwn }) };
  };

  /** The best route that can express the request; else the problem that the first route found. */
  const firstFit = (
    call: ReadCall,
    scanned: Scanned,
    model: Asked,
    candidates: Candidates,
    best: Target | null,
  ): Prepared | WireProblem | null => {
    let problem: WireProblem | null = null;
    for (let target = best; target !== null; target = candidates.next('unfit')) {
      const prepared = prepare(call, scanned, model, target);
      if (!('message' in prepared)) return prepared;
      problem ??= prepared;
    }
    return problem;
  };

  return async function read(call: ReadCall): Promise<ModelRequest | Refusal> {
    const { principal } = call;
    const turns = call.bytes.raw.length > largeBytes ? shares.open(principal.accountId) : null;
    await turns?.next();
    const scanned = scanCall(call);
    turns?.end();
    if (!('facts' in scanned)) return standing.unlessDeleted(principal, fromProblem(scanned));
    const { facts } = scanned;
    const raw = (): Buffer => scanned.json ?? call.bytes.raw;
    const model = await catalog.resolve(facts.model);
    if (model === null) return standing.unlessExhausted(principal, refusals.modelNotFound(facts.model));

    if (model.kind !== call.asks)
      return standing.unlessExhausted(principal, refusals.modelOfOtherKind(facts.model, model.kind));

    const attribution = attributionOf({
      accountId: principal.accountId,
      mode: principal.attribution,
      protocol: call.protocol,
      headers: call.headers,
      raw: raw(),
      members: facts.members,
      digest: attributionDigest,
    });
    if (attribution !== null && 'message' in attribution)
      return standing.unlessExhausted(principal, fromProblem(attribution));

    for (const name of facts.unknownMembers) metrics.unknownMember(call.protocol, name);

    const drawn = drawnBy(facts, model, catalog);
    const asked = { model, drawn };
    const candidates = router.candidates(model, call.protocol, () => stickiness(principal.accountId, raw(), facts));
    const target = candidates?.next('nothing') ?? null;
    if (target !== null && target.route.upstream.protocol !== call.protocol) {
      const shut = await standing.ask(principal);
      if (shut !== null) return shut;
    }
    await turns?.next();
    const first = candidates === null ? null : firstFit(call, scanned, asked, candidates, target);
    turns?.end();
    if (candidates === null || first === null)
      return standing.unlessExhausted(principal, refusals.upstreamUnavailable());
    if ('message' in first) {
      const guessed = withGuess(first, facts, bodyKinds[call.asks] ?? call.protocol);
      return standing.unlessExhausted(principal, fromProblem(guessed));
    }
    call.rawHeaders = withoutLongPromptBeta(call.rawHeaders, facts, model);
    const open = facts.hostedTools.length === 0 ? noTools : allowedWith(openAnywhere(facts, model), drawn.open);
    const others = mayRunOthers(facts, model.allow)
      ? catalog.pricedAt(new Set(model.routes.map(({ upstream }) => upstream.id)))
      : [];
    return {
      facts,
      model,
      bound: boundOf(
        { ...facts, ...boundedUses(facts, { open, allow: drawn.allow }), maxTokens: sentCap(facts, model) },
        { ...model, allow: allowedWith(drawn.allow, open), others, toolImage: drawn.one },
      ),
      others,
      makers: drawn.makers,
      attribution,
      first,
      next(after) {
        for (let target = candidates.next(after); target !== null; target = candidates.next('unfit')) {
          const prepared = prepare(call, scanned, asked, target);
          if (!('message' in prepared)) return prepared;
        }
        return null;
      },
    };
  };
}

/** A model that is asked, and what makes images for a tool of the request. */
interface Asked {
  model: CatalogModel;
  drawn: Drawn;
}

interface Drawn {
  /** Empty: none is known on every route, so that an image is a piece at the price of the model that is asked. */
  makers: readonly PricedModel[];
  /** The most that each image comes to. */
  one?: ToolImageBound;
  /** What the entry opens without the tool, which passes like those with a known price where it has makers. */
  allow: ReadonlySet<string>;
  open: ReadonlySet<string>;
}

const imageTool = 'image_generation';

/** The models of the catalog that the tools of a request name, on each route that can take them. */
function drawnBy({ hostedTools, protocol }: RequestFacts, model: CatalogModel, catalog: Catalog): Drawn {
  const none: Drawn = { makers: [], allow: model.allow, open: noTools };
  const asks = hostedTools.flatMap(({ image }) => (image === undefined ? [] : [image]));
  if (asks.length === 0 || !model.allow.has(imageTool)) return none;
  const places = new Set(
    model.routes.filter(({ upstream }) => upstream.protocol === protocol).map(({ upstream }) => upstream.id),
  );
  const painters = catalog.pricedAt(places).filter(({ kind }) => kind === 'image');
  const bounds: ToolImageBound[] = [];
  const makers = new Set<PricedModel>();
  for (const ask of asks) {
    const named = painters.filter(({ upstreamModel }) => isSameModel(upstreamModel, ask.model));
    if (places.size === 0 || new Set(named.map(({ upstream }) => upstream)).size < places.size) return none;
    for (const each of named) makers.add(each);
    bounds.push(toolImageBound(ask, named));
  }
  const one = bounds.reduce((a, b) => ({
    price: b.price > a.price ? b.price : a.price,
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
  }));
  const allow = new Set([...model.allow].filter((name) => name !== imageTool));
  return { makers: [...makers], one, allow, open: new Set([imageTool]) };
}

/** Tools that pass by their public price on one of the model's routes; translated requests go without. */
function openAnywhere({ protocol }: RequestFacts, model: CatalogModel): ReadonlySet<string> {
  const native = model.routes.filter(({ upstream }) => upstream.protocol === protocol);
  return new Set(native.flatMap(({ upstream }) => [...openTools(model, upstream)]));
}

const noTools: ReadonlySet<string> = new Set();

/** What of a context the model and its route say. */
function contextOf(model: CatalogModel, { route: { upstream, upstreamModel } }: Target) {
  const callIdMax = callIdMaxOf(upstream.profile, upstream.protocol);
  return {
    catalogModel: model.id,
    upstreamModel,
    maxOutputTokens: model.maxOutputTokens,
    features: upstream.features,
    efforts: model.efforts,
    createdAt: Math.floor(Date.now() / 1000),
    ...(callIdMax === undefined ? {} : { callIdMax }),
  };
}

/** The exchange of a request that asks for a compaction words it in its answer. */
function withCompaction(
  exchange: WireExchange,
  parts: { call: ReadCall; facts: RequestFacts; context: WireContext; seal: TextSeal; isOwn: boolean },
): WireExchange {
  const { call, facts, context, seal, isOwn } = parts;
  const isUnary = call.compacts === true;
  if (facts.compaction !== 'asked' || (!isOwn && !isUnary)) return exchange;
  return compactingExchange(exchange, context, {
    seal,
    isOwn,
    userItems: isUnary ? userItemsOf(call.bytes.raw) : null,
  });
}

/** Messages has neither embeddings nor images: an entry that has such a route cannot run there. */
const noRoute = (asks: ModelKind): WireProblem => ({
  message: `model: none of its routes makes ${asks === 'image' ? 'images' : 'embeddings'} at the moment`,
  param: 'model',
  code: null,
  status: 503,
});

/** What a body is that is none of a protocol. */
const bodyKinds: Partial<Record<ModelKind, BodyKind>> = { embedding: 'embeddings', image: 'images' };
const purposes: Record<ModelKind, Purpose> = { text: 'generate', embedding: 'embed', image: 'image' };

/** A body that was scanned. `form`: it came as one, and `json` has its fields, to which the facts' places refer. */
interface Scanned {
  facts: RequestFacts;
  form: PictureForm | null;
  json: Buffer | null;
}

function scanCall({ bytes, headers, protocol, asks, imagePath }: ReadCall): Scanned | WireProblem {
  const isForm = imagePath === 'edits' && !isJsonContentType(headers);
  const read = isForm ? readImageForm(bytes.raw, headers['content-type']) : null;
  if (read?.ok === false) return read.problem;
  const form = read?.form ?? null;
  const scanned = scanBody(form?.json ?? bytes.raw, protocol, purposes[asks]);
  if (!scanned.ok) return scanned.problem;
  return { facts: scanned.facts, form, json: form?.json ?? null };
}

function wireOf({ protocol, asks, imagePath }: ReadCall, upstream: Protocol, form: PictureForm | null): Wire {
  if (asks === 'embedding') return embeddingsWire;
  return asks === 'image' ? imagesWire(imagePath ?? 'generations', form) : wireFor(protocol, upstream);
}

/** The client's cap on the answer, raised to the smallest that a translation to one of the model's routes may send. */
function sentCap({ protocol, maxTokens }: RequestFacts, { routes }: CatalogModel): number | null {
  if (maxTokens === null || maxTokens === 0) return maxTokens;
  return routes
    .filter(({ upstream }) => upstream.protocol !== protocol)
    .reduce((cap, { upstream }) => Math.max(cap, upstream.features.minOutputTokens), maxTokens);
}

/** The betas of the messages protocol's header, which may be repeated; other protocols have none. */
function betasOf({ protocol, rawHeaders }: ReadCall): string[] {
  if (protocol !== 'messages') return [];
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() === 'anthropic-beta'
      ? (rawHeaders[index + 1] ?? '').split(',').map((beta) => beta.trim())
      : [],
  );
}

/**
 * The vendor's error for fields that a version has removed, on translated routes; on the native path the vendor sends
 * it.
 */
function versionProblem(call: ReadCall, facts: RequestFacts): WireProblem | null {
  if (call.protocol !== 'messages' || call.version !== versionWithoutSampling) return null;
  const field = samplingFields.find((name) => facts.members.has(name));
  return field === undefined
    ? null
    : { message: `${field}: not supported with anthropic-version ${versionWithoutSampling}`, param: field, code: null };
}
