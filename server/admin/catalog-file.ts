import { readFile } from 'node:fs/promises';
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { ZodError } from 'zod';
import { isSecret } from '../catalog/file-entries.ts';
import { profileProblem } from '../catalog/upstreams.ts';
import { type CatalogContent, type CatalogInput, catalogInput } from './catalog-content.ts';

/** A fault in a catalog file. */
export interface CatalogFault {
  /** Counted from 1; null for the file as a whole. */
  line: number | null;
  /** Where in the file, e.g. `models[0].prices.input`; empty for the file as a whole. */
  at: string;
  message: string;
}

/** All faults of a catalog file at once. Nothing of the file was applied. */
export class CatalogFileError extends Error {
  override name = 'CatalogFileError';
  readonly faults: readonly CatalogFault[];

  constructor(name: string, faults: readonly CatalogFault[]) {
    const lines = faults.map(({ line, at, message }) => {
      const place = line === null ? name : `${name}:${line}`;
      return `  ${place}  ${at === '' ? '' : `${at} `}${message}`;
    });
    super(`The catalog file has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${lines.join('\n')}`);
    this.faults = faults;
  }
}

/** The configuration that a catalog file may use; `Config` has it. */
export interface CatalogSurroundings {
  allowPrivateUpstreams: boolean;
  /** The value of the environment variable that `apiKeyEnv` names. */
  vendorKey: (variable: string) => string | undefined;
}

/** Reads and checks a catalog file. Throws `CatalogFileError`. */
export async function readCatalogFile(path: string, surroundings: CatalogSurroundings): Promise<CatalogContent> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new CatalogFileError(path, [{ line: null, at: '', message: `cannot be read (${code})` }]);
  }
  return parseCatalogFile(path, text, surroundings);
}

type Path = readonly PropertyKey[];
type Raise = (path: Path, message: string) => void;

/** Checks the text of a catalog file, all of it. Throws `CatalogFileError` naming every fault with its line. */
export function parseCatalogFile(name: string, text: string, surroundings: CatalogSurroundings): CatalogContent {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (path: Path): number | null => positionOf(document, lines, path);
  if (document.errors.length > 0) {
    throw new CatalogFileError(
      name,
      // The parser's own messages may quote the file, and the file may hold a key.
      document.errors.map(({ pos, code }) => ({ line: lines.linePos(pos[0]).line, at: '', message: notYaml(code) })),
    );
  }

  const value = toPlain(document);
  const parsed = catalogInput({ allowPrivate: surroundings.allowPrivateUpstreams }).safeParse(value);
  const faults: CatalogFault[] = parsed.success ? [] : faultsOf(parsed.error, value, lineOf);
  const raise: Raise = (path, message) => {
    faults.push({ line: lineOf(path), at: textOf(path), message });
  };
  checkUniqueness(value, raise);
  checkKeys(value, surroundings, raise);
  if (parsed.success) checkProfiles(parsed.data.upstreams, raise);
  if (!parsed.success || faults.length > 0) {
    checkUpstreams(value, raise);
    throw new CatalogFileError(
      name,
      faults.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    );
  }
  return toContent(parsed.data, surroundings, lineOf);
}

function notYaml(code: string): string {
  if (code === 'DUPLICATE_KEY') return 'says the same thing twice';
  return `is not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`;
}

/** Plain values of the whole document. YAML that JSON cannot express becomes a value that the schema refuses. */
function toPlain(document: Document): unknown {
  try {
    return document.toJS();
  } catch {
    // An unknown alias, or so many aliases that they must be an attack.
    return null;
  }
}

function faultsOf(error: ZodError, value: unknown, lineOf: (path: Path) => number | null): CatalogFault[] {
  return error.issues.flatMap((issue) => {
    if (issue.path.length === 0 && issue.code === 'invalid_type') {
      return [{ line: null, at: '', message: 'must be a map of upstreams, models and plans' }];
    }
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        return { line: lineOf(path), at: textOf(path), message: 'is not known here' };
      });
    }
    const missing = issue.code === 'invalid_type' && valueAt(value, issue.path) === undefined;
    const message = missing ? 'is missing' : issue.message;
    return [{ line: lineOf(issue.path), at: textOf(issue.path), message }];
  });
}

/** Finds repeated ids and routes. Reads the raw values, so that it works beside other faults. */
function checkUniqueness(value: unknown, raise: Raise): void {
  const firstSeen = (list: unknown, path: Path, nameOf: (item: unknown) => string | null, what: string) => {
    const seen = new Set<string>();
    for (const [index, item] of listOf(list).entries()) {
      const name = nameOf(item);
      if (name !== null && seen.has(name)) raise([...path, index], `names ${what} that is above already`);
      if (name !== null) seen.add(name);
    }
  };
  firstSeen(memberOf(value, 'upstreams'), ['upstreams'], idOf, 'an upstream');
  firstSeen(memberOf(value, 'plans'), ['plans'], idOf, 'a plan');
  const models = memberOf(value, 'models');
  firstSeen(models, ['models'], idOf, 'a model');
  for (const [index, model] of listOf(models).entries()) {
    const nameOf = (route: unknown) => JSON.stringify([textAt(route, 'upstream'), textAt(route, 'model')]);
    firstSeen(memberOf(model, 'routes'), ['models', index, 'routes'], nameOf, 'a route');
  }
}

/**
 * Routes may lead to upstreams that only the database knows, which is checked when the file is otherwise in order. In a
 * faulty file, unexplained names are reported with the rest.
 */
function checkUpstreams(value: unknown, raise: Raise): void {
  const known = new Set(listOf(memberOf(value, 'upstreams')).map(idOf));
  for (const [index, model] of listOf(memberOf(value, 'models')).entries()) {
    for (const [at, route] of listOf(memberOf(model, 'routes')).entries()) {
      const name = textAt(route, 'upstream');
      if (name === null || known.has(name)) continue;
      const path = ['models', index, 'routes', at, 'upstream'];
      raise(path, `names the upstream ${JSON.stringify(name)}, which is not in this file`);
    }
  }
}

/** A vendor's profile says something only of the protocols that the vendor speaks. */
function checkProfiles(upstreams: CatalogInput['upstreams'], raise: Raise): void {
  for (const [index, upstream] of upstreams.entries()) {
    const problem = profileProblem(upstream);
    if (problem !== null) raise(['upstreams', index, 'profile'], problem);
  }
}

/** Reads the raw values, too. */
function checkKeys(value: unknown, { vendorKey }: CatalogSurroundings, raise: Raise): void {
  for (const [index, upstream] of listOf(memberOf(value, 'upstreams')).entries()) {
    const variable = textAt(upstream, 'apiKeyEnv');
    if (variable === null) continue;
    const path = ['upstreams', index, 'apiKeyEnv'];
    const key = vendorKey(variable);
    if (memberOf(upstream, 'apiKey') !== undefined) raise(path, 'cannot stand beside apiKey');
    if (key === undefined) raise(path, `names ${JSON.stringify(variable)}, which is not set`);
    else if (!isSecret(key)) raise(path, `names ${JSON.stringify(variable)}, which does not hold a key`);
  }
}

function toContent(
  input: CatalogInput,
  { vendorKey }: CatalogSurroundings,
  lineOf: (path: Path) => number | null,
): CatalogContent {
  return {
    upstreams: input.upstreams.map(({ apiKey, apiKeyEnv, ...upstream }) => ({
      upstream,
      secret: apiKey ?? (apiKeyEnv === undefined ? null : (vendorKey(apiKeyEnv) ?? null)),
    })),
    models: input.models.map(({ prices, routes, ...model }, index) => ({
      model,
      prices,
      routes:
        routes?.map(({ upstream, model: upstreamModel, priority, weight, costs }, at) => ({
          upstreamId: upstream,
          upstreamModel,
          priority,
          weight,
          enabled: true,
          costs: costs ?? null,
          line: lineOf(['models', index, 'routes', at]),
        })) ?? null,
    })),
    plans: input.plans.map(({ id, name, priceVnd, budgetUsd, validDays, enabled }) => ({
      id,
      name,
      priceVnd: BigInt(priceVnd),
      budget: budgetUsd,
      validDays: validDays ?? null,
      enabled,
    })),
  };
}

/** The line of the value at a path, or of its nearest ancestor in the file. */
function positionOf(document: Document, lines: LineCounter, path: Path): number | null {
  let node: unknown = document.contents;
  let offset = offsetOf(node);
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      offset = offsetOf(node) ?? offset;
    } else {
      break;
    }
  }
  return offset === null ? null : lines.linePos(offset).line;
}

function offsetOf(node: unknown): number | null {
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}

/** `models[0].prices.input`. */
function textOf(path: Path): string {
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`))
    .join('');
}

function idOf(item: unknown): string | null {
  return textAt(item, 'id');
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) found = memberOf(found, step);
  return found;
}

function memberOf(value: unknown, name: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<PropertyKey, unknown>)[name];
}

function textAt(value: unknown, name: string): string | null {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
