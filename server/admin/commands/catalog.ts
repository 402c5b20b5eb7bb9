/** The commands for the catalog. */

import { writeFile } from 'node:fs/promises';
import type { ZodError } from 'zod';
import { type Markup, parseMarkup } from '../../catalog/markup.ts';
import { readVendors, type VendorId, vendorIds } from '../../catalog/vendors.ts';
import { transaction } from '../../database/lane.ts';
import type { Config } from '../../runtime/config.ts';
import { commandLine } from '../../shared/audit.ts';
import { createSeal } from '../../shared/seal.ts';
import { applyCatalog } from '../catalog-apply.ts';
import { catalogInput } from '../catalog-content.ts';
import { exportCatalog } from '../catalog-export.ts';
import { CatalogFileError, readCatalogFile } from '../catalog-file.ts';
import { catalogJsonSchema, catalogTables } from '../catalog-schema.ts';
import { catalogText, plainLine } from '../catalog-text.ts';
import { catalogOfList, type ImportedCatalog, type UnknownPrice } from '../price-list/catalog-of-list.ts';
import { diffCatalog, diffText } from '../price-list/diff.ts';
import type { VendorPriceList } from '../price-list/price-list.ts';
import { PriceListError, readPriceList } from '../price-list/read.ts';
import { type Command, CommandError, type Given } from './command.ts';

export const catalogCommands: readonly Command[] = [
  {
    name: 'catalog apply',
    usage: 'FILE [--prune]',
    summary: 'make the catalog say what a file says; --prune switches off what it does not name',
    async run({ config, pool, secretKey }, given) {
      const [name = ''] = given.words;
      try {
        const content = await readCatalogFile(name, config);
        const seal = createSeal({ secretKeys: [await secretKey()] });
        const prune = given.flag('prune');
        const catalog = await transaction(pool, (client) =>
          applyCatalog(client, { content, seal, prune, actor: commandLine, name }),
        );
        return { json: { catalog } };
      } catch (error) {
        if (!(error instanceof CatalogFileError)) throw error;
        throw new CommandError('invalid_catalog', error.message, { faults: error.faults });
      }
    },
  },
  {
    name: 'catalog export',
    usage: '',
    summary: 'print the catalog in the shape of a catalog file, without keys',
    async run({ pool }) {
      const { catalog, unpriced } = await transaction(pool, exportCatalog);
      const missing = unpriced.map((model) => `Left out, because it has no price: ${model}`);
      // Standard output carries the file's content alone, for programs; this goes to the operator.
      for (const line of missing) process.stderr.write(`${line}\n`);
      return { json: catalog, text: catalogText(missing, catalog).trimEnd() };
    },
  },
  {
    name: 'catalog diff',
    usage: 'LIST [--map UPSTREAM=VENDOR,…] [--markup 15%] [--out FILE]',
    summary:
      'compare costs, prices, margins, limits, tiers and models that are missing with a public price list (a file or an address: models.dev’s api.json, LiteLLM’s model_prices_and_context_window.json, OpenRouter’s /api/v1/models); changes nothing. --out writes the list’s costs, and with --markup prices, as a file for `catalog apply`',
    async run({ config, pool }, given) {
      const markup = given.text('markup') === undefined ? null : markupOf(given);
      const list = await openList(config, given);
      const vendors = await readVendors();
      const vendorOf = vendorsOf(given);
      const { rows, missing, faults, proposal } = await transaction(pool, (client) =>
        diffCatalog(client, { list, vendors, vendorOf, markup }),
      );
      const text = diffText({ rows, missing });
      refuseUnknownPrices(faults, text, { models: rows, missing });
      const out = await writeOut(given, () => catalogText([], proposal));
      const written = out === null ? '' : `\n\n${out}: apply it with \`catalog apply ${out}\`; nothing was changed`;
      return { json: { models: rows, missing, out }, text: `${text}${written}` };
    },
  },
  {
    name: 'catalog import',
    usage: 'LIST --vendor V --markup 15% [--models A,B] [--out FILE]',
    summary:
      'print a vendor’s models of a public price list as a catalog file, sold at the list price plus the markup; changes nothing',
    async runAlone({ config }, given) {
      const vendor = (await readVendors()).find(({ id }) => id === given.required('vendor'));
      if (vendor === undefined)
        throw new CommandError('invalid_input', `--vendor must be one of ${vendorIds.join(', ')}`);
      const markup = markupOf(given);
      const [address = ''] = given.words;
      const only = given.list('models') ?? null;
      const imported = catalogOfList({
        list: await openList(config, given),
        vendor,
        markup,
        only,
        source: { address, date: new Date().toISOString().slice(0, 10) },
      });
      // Without a model that was asked for by name the file would not be what was asked for.
      if (only !== null || imported.models.length === 0) refuseUnknownPrices(imported.faults, '', {});
      if (imported.models.length === 0) {
        throw new CommandError('nothing_to_import', `The list has no model of ${vendor.name} that can be sold`);
      }
      const { leftOut, notes, models } = usableOf(imported, only !== null);
      const head = [
        `${vendor.name} by ${address}, with a markup of ${given.required('markup')}. Costs are the list prices; prices are rounded up`,
        'to 0.000001 USD per 1M tokens.',
        ...notes.map(({ model, note }) => `${model}: ${note}`),
        ...leftOut.map(({ model, reason }) => `Left out: ${model}: ${reason}`),
      ];
      const file = catalogText(head, imported.catalog);
      const out = await writeOut(given, () => file);
      return {
        json: { catalog: imported.catalog, leftOut, notes, out },
        text: out === null ? file.trimEnd() : `${out}: ${models.length} models; apply it with \`catalog apply ${out}\``,
      };
    },
  },
  {
    name: 'catalog schema',
    usage: '',
    summary: 'print every key of a catalog file: what it takes, and what it is for; --json: as JSON Schema',
    async runAlone() {
      return { json: catalogJsonSchema(), text: catalogTables() };
    },
  },
];

/** The public price list that the command names. */
async function openList(config: Config, given: Given): Promise<VendorPriceList> {
  try {
    return await readPriceList(given.words[0] ?? '', { allowPlain: config.allowPrivateUpstreams });
  } catch (error) {
    if (!(error instanceof PriceListError)) throw error;
    throw new CommandError('invalid_price_list', error.message);
  }
}

function markupOf(given: Given): Markup {
  const markup = parseMarkup(given.required('markup'));
  if (markup !== null) return markup;
  throw new CommandError('invalid_input', '--markup must be a percentage such as 15% or 12.5%, at most 1000%');
}

/** `--map a=openai,b=anthropic`. */
function vendorsOf(given: Given): ReadonlyMap<string, VendorId> {
  return new Map(
    (given.list('map') ?? []).map((pair) => {
      const [upstream = '', name] = pair.split('=');
      const vendor = vendorIds.find((id) => id === name);
      if (vendor !== undefined) return [upstream, vendor];
      throw new CommandError('invalid_input', `--map must be UPSTREAM=VENDOR with one of ${vendorIds.join(', ')}`);
    }),
  );
}

/**
 * What is written must be what `catalog apply` takes; names of a list may have characters that a catalog refuses, and prices no order.
 * Models that it refuses are left out, unless they were asked for by name or none would be left.
 */
function usableOf(imported: ImportedCatalog, areNamed: boolean): ImportedCatalog {
  const { error } = catalogInput({ allowPrivate: false }).safeParse(imported.catalog);
  if (error === undefined) return imported;
  const reasons = new Map<number, string>();
  for (const { path, message } of error.issues) {
    const [place, index, ...rest] = path;
    if (place === 'models' && typeof index === 'number' && !reasons.has(index))
      reasons.set(index, `a catalog does not take it: ${rest.join('.')} ${message}`);
    else if (place !== 'models') return refuseUnusable(error);
  }
  const entries = imported.catalog['models'] as readonly unknown[];
  if (areNamed || reasons.size === 0 || reasons.size === entries.length) return refuseUnusable(error);
  imported.catalog['models'] = entries.filter((_entry, index) => !reasons.has(index));
  imported.leftOut.push(...[...reasons].map(([index, reason]) => ({ model: imported.models[index] ?? '', reason })));
  imported.models = imported.models.filter((_id, index) => !reasons.has(index));
  return usableOf(imported, areNamed);
}

function refuseUnusable(error: ZodError): never {
  const faults = error.issues.map(({ path, message }) => ({ at: path.join('.'), message }));
  const lines = faults.map(({ at, message }) => `  ${at} ${message}`);
  throw new CommandError('invalid_price_list', `The price list makes no catalog file:\n${lines.join('\n')}`, {
    faults,
  });
}

/** A price that is not known might be the dearest: nothing of such models is used. */
function refuseUnknownPrices(faults: readonly UnknownPrice[], shown: string, details: object): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ model, field, message }) => `  ${plainLine(`${model}  ${field} ${message}`)}`);
  const sentence = `The price list has members that may be prices and are not known:\n${lines.join('\n')}`;
  throw new CommandError('unknown_price_fields', shown === '' ? sentence : `${shown}\n\n${sentence}`, {
    faults,
    ...details,
  });
}

/** Writes `--out`, and never over a file that exists. Null: it was not asked for. */
async function writeOut(given: Given, text: () => string): Promise<string | null> {
  const out = given.text('out');
  if (out === undefined) return null;
  const content = text();
  try {
    await writeFile(out, content, { flag: 'wx' });
    return out;
  } catch (error) {
    throw new CommandError('unwritable', `${out} cannot be written (${(error as NodeJS.ErrnoException).code ?? ''})`);
  }
}
