import { ConfigurationError } from '../../errors.ts';
import { apiRoot } from '../../internal/address.ts';
import type { CatalogModel, ConnectRequest, Scope, SettingsFile, Variable } from '../connection.ts';

/** A request, checked and complete: what each tool's settings are made from. */
export interface Parts {
  /** Without `/v1`: for clients of the messages protocol. */
  baseUrl: string;
  /** With `/v1`: for clients of the other protocols. */
  versionedUrl: string;
  apiKey: string;
  scope: Scope;
  models: { main: string; extraLarge: string; large: string; medium: string; small: string };
  /** The models of the choice, each once, the main one first. */
  chosen: ChosenModel[];
  /** Every model of the catalog that answers with text; those of the choice where it is not known. */
  all: ChosenModel[];
  bundledModels: string | undefined;
  keyCommand: string | undefined;
  statusCommand: string | undefined;
}

export interface ChosenModel {
  id: string;
  name: string;
  contextWindow: number | null;
  maxOutputTokens: number | null;
  /** Empty: unknown, or none. */
  efforts: readonly string[];
  inputs: readonly string[];
}

/** The variable that holds the key where a tool can read it from one. */
export const keyVariable = 'STEYG_API_KEY';
const placeholder = 'YOUR_STEYG_API_KEY';

/** Checks a request. Throws a `ConfigurationError` that says what to do. */
export function partsOf(request: ConnectRequest): Parts {
  const baseUrl = apiRoot(request.baseUrl);
  const { main } = request.models;
  const { large = main, medium = main, small = main, extraLarge = large } = request.models;
  const models = { main, extraLarge, large, medium, small };
  const ids = new Map(Object.entries(models).map(([part, id]) => [part, catalogId(id, request.catalog)]));
  const idOf = (part: keyof typeof models) => ids.get(part) ?? main;
  const apiKey = request.apiKey ?? placeholder;
  // A key that is none of ours, or that brought its line's end along, would only show as a 401 later.
  if (/\s|["'\\]/.test(apiKey)) throw new ConfigurationError('The API key has spaces or quotes in it.');
  const chosen = [...new Set([idOf('main'), ...ids.values()])].map((id) => describe(id, request.catalog));
  const talking = (request.catalog ?? []).filter(({ kind }) => kind !== 'embedding');
  return {
    baseUrl,
    versionedUrl: `${baseUrl}/v1`,
    apiKey,
    scope: request.scope ?? 'user',
    models: {
      main: idOf('main'),
      extraLarge: idOf('extraLarge'),
      large: idOf('large'),
      medium: idOf('medium'),
      small: idOf('small'),
    },
    chosen,
    all: talking.length === 0 ? chosen : talking.map(({ id }) => describe(id, talking)),
    bundledModels: request.bundledModels,
    keyCommand: request.keyCommand,
    statusCommand: request.statusCommand,
  };
}

/** The id as the catalog has it, without the prefix that only pickers see. */
function catalogId(id: string, catalog: readonly CatalogModel[] | undefined): string {
  const bare = id.replace(/^steyg\//, '');
  if (!/^[^\s"'\\]+$/.test(bare)) throw new ConfigurationError(`${JSON.stringify(id)} is no model id.`);
  if (catalog === undefined) return bare;
  const found = catalog.find((model) => model.id === bare) ?? catalog.find((model) => model.id === bare.toLowerCase());
  if (found !== undefined) return found.id;
  const known = catalog.map((model) => model.id).join(', ') || 'nothing';
  throw new ConfigurationError(`${id} is not in the catalog, which has: ${known}`);
}

function describe(id: string, catalog: readonly CatalogModel[] | undefined): ChosenModel {
  const model = catalog?.find((each) => each.id === id);
  return {
    id,
    name: model?.displayName ?? id,
    contextWindow: model?.contextLength ?? null,
    maxOutputTokens: model?.maxOutputTokens ?? null,
    efforts: model?.reasoning?.supportedEfforts ?? [],
    inputs: model?.architecture?.inputModalities ?? ['text'],
  };
}

export function userOnly({ scope }: Parts, tool: string): void {
  if (scope === 'project')
    throw new ConfigurationError(`${tool} takes these settings for a person only: scope 'user'.`);
}

export const keyInEnvironment = ({ apiKey }: Parts): Variable => ({ name: keyVariable, value: apiKey, secret: true });

export function file(facts: Omit<SettingsFile, 'content'>): SettingsFile {
  return { ...facts, content: facts.merge(''), merge: (existing) => asWritten(existing, facts.merge) };
}

/** Merges with plain lines, and gives the text back with its byte order mark and its own line ends. */
function asWritten(existing: string, merge: (text: string) => string): string {
  const mark = existing.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = existing.slice(mark.length);
  if (!text.includes('\r\n')) return mark + merge(text);
  return mark + merge(text.replaceAll('\r\n', '\n')).replaceAll('\n', '\r\n');
}
