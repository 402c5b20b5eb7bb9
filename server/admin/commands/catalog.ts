/** The commands for the catalog. */

import { commandLine } from '../../shared/audit.ts';
import { type Command, CommandError } from './command.ts';

export const catalogCommands: readonly Command[] = [
  {
    name: 'catalog apply',
    usage: 'FILE [--prune]',
    summary: 'make the catalog say what a file says; --prune switches off what it does not name',
    options: { prune: 'flag' },
    words: 1,
    async run({ config, pool, secretKey }, given) {
      const [{ readCatalogFile, CatalogFileError }, { applyCatalog }, { createSeal }, { transaction }] =
        await Promise.all([
          import('../catalog-file.ts'),
          import('../catalog-apply.ts'),
          import('../../shared/seal.ts'),
          import('../../database/lane.ts'),
        ]);
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
    options: {},
    async run({ pool }) {
      const [{ exportCatalog }, { stringify }, { transaction }] = await Promise.all([
        import('../catalog-export.ts'),
        import('yaml'),
        import('../../database/lane.ts'),
      ]);
      const { catalog, unpriced } = await transaction(pool, exportCatalog);
      const missing = unpriced.length === 0 ? '' : `# Left out, because they have no price: ${unpriced.join(', ')}\n`;
      // Standard output carries the file's content alone, for programs; this goes to the operator.
      if (missing !== '') process.stderr.write(missing.slice(2));
      return { json: catalog, text: `${missing}${stringify(catalog, { lineWidth: 0 }).trimEnd()}` };
    },
  },
  {
    name: 'catalog schema',
    usage: '',
    summary: 'print every key of a catalog file: what it takes, and what it is for; --json: as JSON Schema',
    options: {},
    async runAlone() {
      const { catalogJsonSchema, catalogTables } = await import('../catalog-schema.ts');
      return { json: catalogJsonSchema(), text: catalogTables() };
    },
  },
];
