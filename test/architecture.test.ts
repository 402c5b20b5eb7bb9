import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// Who may import whom. Imports that are only types count too: a type is knowledge of another part just as well.

const root = fileURLToPath(new URL('..', import.meta.url));

interface Import {
  from: string;
  /** A file of the repository, relative to its root, or a package. */
  to: string;
  /** What stands between `import` and `from`. */
  names: string;
}

const sources = globSync('{server,sdk,dashboard,prisma}/**/*.{ts,tsx,mts,js,mjs,jsx}', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|generated)(\/|$)/.test(path),
});

// `import … from 'x'`, `export … from 'x'`, `import 'x'`, `import('x')` as a value and in types.
const statement =
  /^\s*(?:import|export)\s+([^'";]*?)\s*\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

function importsOf(from: string, text: string): Import[] {
  return [...text.matchAll(statement)].map((match) => {
    const target = match[2] ?? match[3] ?? match[4] ?? '';
    const to = target.startsWith('.') ? relative(root, resolve(root, dirname(from), target)) : target;
    return { from, to, names: match[1] ?? '' };
  });
}

const imports = sources.flatMap((from) => importsOf(from, readFileSync(join(root, from), 'utf8')));

const domains = [
  'accounts',
  'billing',
  'books',
  'catalog',
  'keys',
  'notices',
  'people',
  'plans',
  'settings',
  'uptime',
] as const;
/** Parts without a domain, which know nothing above them. */
const ground = ['database', 'runtime', 'shared', 'core'] as const;

/** The part of the server that a file belongs to: its folder, or the name of a program. */
function partOf(path: string): string {
  const [, first = '', second] = path.split('/');
  return second === undefined ? `${first.replace(/\.ts$/, '')}.ts` : first;
}

/** What each part of the server may import of the others. */
const mayImport: Record<string, readonly string[]> = {
  // The two programs come in through `app`, the operator's commands and the simulator, never through the protocols.
  'main.ts': ['app', 'admin', 'simulator', ...ground],
  'admin.ts': ['admin'],
  // For development: keeps the database while the server is started again.
  'dev.ts': ['database', 'runtime'],
  app: ['gateway', 'graphql', 'pages', ...domains, ...ground],
  // Edges never import each other, but GraphQL hands out the signed links that pages open.
  gateway: ['wire', 'metering', ...domains, ...ground],
  graphql: ['pages', ...domains, ...ground],
  pages: [...domains, ...ground],
  admin: [...domains, ...ground],
  // The only arrows between domains.
  accounts: ['billing', ...ground],
  plans: ['billing', ...ground],
  books: ['billing', 'plans', ...ground],
  people: ['accounts', 'keys', ...ground],
  billing: [...ground],
  catalog: [...ground],
  keys: [...ground],
  notices: [...ground],
  settings: [...ground],
  uptime: [...ground],
  // Pure, or below everything.
  wire: ['core'],
  metering: ['core'],
  simulator: ['core', 'shared'],
  database: ['core'],
  runtime: ['core', 'shared'],
  shared: ['core'],
  core: [],
  // Runs beside the server, in the container.
  deploy: [],
};

function shown(list: readonly Import[]): string[] {
  return list.map(({ from, to }) => `${from} -> ${to}`);
}

const within = (folder: string) => (path: string) => path.startsWith(`${folder}/`);
const isFile = ({ to }: Import) => existsSync(join(root, to)) || to.includes('/generated/');
const serverImports = imports.filter(({ from, to }) => within('server')(from) && within('server')(to));

describe('imports are read', () => {
  it('in every form', () => {
    const text = `
      import { a } from './a.ts';
      import type { B } from './b.ts';
      import {
        c,
      } from "./c.ts";
      import './d.ts';
      export { e } from './e.ts';
      export * from './f.ts';
      type G = import('./g.ts').G;
      const h = await import('./h.ts');
      import i from 'package';`;
    expect(importsOf('server/x/y.ts', text).map(({ to }) => to)).toEqual([
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `server/x/${name}.ts`),
      'package',
    ]);
  });

  it('from every folder of the server', () => {
    const parts = new Set(sources.filter(within('server')).map(partOf));
    expect([...parts].filter((part) => mayImport[part] === undefined)).toEqual([]);
    expect(serverImports.length).toBeGreaterThan(50);
  });
});

describe('the server', () => {
  it.each(Object.keys(mayImport))('%s imports only what it may', (part) => {
    const others = serverImports.filter(({ from, to }) => partOf(from) === part && partOf(to) !== part);
    expect(shown(others.filter(({ to }) => !mayImport[part]?.includes(partOf(to))))).toEqual([]);
  });

  it('is started by nothing that it is made of', () => {
    const programs = serverImports.filter(({ to }) => ['main.ts', 'admin.ts', 'dev.ts'].includes(partOf(to)));
    expect(shown(programs)).toEqual([]);
  });

  it('reads its configuration in programs alone; others know the types of what they are handed', () => {
    const readers = serverImports.filter(
      ({ to, names }) => to === 'server/runtime/config.ts' && !names.startsWith('type '),
    );
    expect(shown(readers.filter(({ from }) => !['main.ts', 'dev.ts', 'admin'].includes(partOf(from))))).toEqual([]);
  });

  it('looks at the environment only where a program begins', () => {
    const readers = sources.filter((path) => within('server')(path) && /\bprocess\.env\b/.test(codeOf(path)));
    const programs = readers.filter(
      (path) =>
        ['main.ts', 'admin.ts', 'dev.ts'].includes(partOf(path)) ||
        path === 'server/runtime/config.ts' ||
        codeOf(path).includes('import.meta.main'),
    );
    expect(readers).toEqual(programs);
  });

  it('imports neither the SDK nor the dashboard', () => {
    const foreign = imports.filter(
      ({ from, to }) =>
        within('server')(from) &&
        (isFile({ from, to, names: '' }) || to.startsWith('@steyg/')) &&
        !within('server')(to),
    );
    expect(shown(foreign)).toEqual([]);
  });

  it('has no files that need each other in a circle', () => {
    // What only files outside of every circle need is taken away, until nothing but circles and what they need is left.
    let left = serverImports;
    for (let before = Number.POSITIVE_INFINITY; left.length < before; ) {
      before = left.length;
      const needing = new Set(left.map(({ from }) => from));
      const needed = new Set(left.map(({ to }) => to));
      left = left.filter(({ from, to }) => needed.has(from) && needing.has(to));
    }
    expect(shown(left)).toEqual([]);
  });

  it('has no folder of more than 24 sources: a reader looks through one at a time', () => {
    const folders = Map.groupBy(sources.filter(within('server')), (path) => path.slice(0, path.lastIndexOf('/')));
    const full = [...folders].filter(([, files]) => files.length > 24).map(([folder, files]) => [folder, files.length]);
    expect(full).toEqual([]);
  });
});

describe('a replica', () => {
  const readers = sources.filter(
    (path) => within('server/graphql')(path) && /[{,]\s*history\b[^:]*\}/.test(codeOf(path)),
  );

  it('is known to the control plane and to the edge that hands it to queries', () => {
    const importers = serverImports.filter(({ to }) => to === 'server/database/replica.ts').map(({ from }) => from);
    expect([...new Set(importers)].sort()).toEqual([
      'server/app/control-plane.ts',
      'server/graphql/context.ts',
      'server/graphql/edge.ts',
    ]);
  });

  it('is read by five pages of history, and by nothing that closes a month, writes an invoice or checks an invariant', () => {
    expect(readers.filter((path) => !['context', 'edge', 'yoga'].some((each) => path.endsWith(`/${each}.ts`)))).toEqual(
      ['attribution', 'latency', 'ledger', 'revenue', 'usage'].map((page) => `server/graphql/billing/${page}.ts`),
    );
    const given = readers.flatMap((path) =>
      [...codeOf(path).matchAll(/(\w+)\(history\b(?!\.)/g)].map(([, name = '']) => name),
    );
    expect([...new Set(given)].sort()).toEqual([
      'readAttributedUsage',
      'readLatency',
      'readLedger',
      'readMargins',
      'readUsage',
    ]);
  });
});

describe('what is pure', () => {
  // Functions of their arguments alone, which these packages offer.
  const pure: Record<string, RegExp> = {
    'node:buffer': /./,
    'node:crypto': /^\{ createHash \}$/,
    'node:zlib': /^\{ inflateSync \}$/,
  };

  it.each([
    ['server/wire', sources.filter(within('server/wire'))],
    [
      'server/billing',
      [
        ...sources.filter(within('server/billing/rules')),
        ...['escrow/escrow', 'escrow/promised-charges', 'lane/batch'].map((name) => `server/billing/${name}.ts`),
      ],
    ],
    ['server/core', sources.filter(within('server/core'))],
    ['server/metering', sources.filter(within('server/metering'))],
  ])('%s imports only its own folder and core: no input or output, no clock, no framework', (folder, files) => {
    expect(files.filter((path) => !sources.includes(path))).toEqual([]);
    const outside = closure(files).filter(
      ({ to, names }) => !within(folder)(to) && !within('server/core')(to) && !pure[to]?.test(names),
    );
    expect(shown(outside)).toEqual([]);
    const reached = new Set([...files, ...closure(files).map(({ from }) => from)]);
    const fromOutside = /\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bMath\.random\b|\bfetch\(|\bprocess\./;
    expect([...reached].filter((path) => fromOutside.test(codeOf(path)))).toEqual([]);
  });

  it('includes nothing of the ledger that writes', () => {
    const reached = closure(['server/billing/rules/budget.ts']).map(({ to }) => to);
    expect(reached.filter((path) => /ledger|spool|sweep|batch|statements/.test(path))).toEqual([]);
  });
});

describe('the house', () => {
  it('has two programs and its pages beside its rooms', () => {
    const entries = readdirSync(join(root, 'server'), { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files.filter((name) => name.endsWith('.ts')).sort()).toEqual(['admin.ts', 'dev.ts', 'main.ts']);
    expect(files.filter((name) => !name.endsWith('.ts') && !/^[A-Z]+\.md$/.test(name))).toEqual([]);
  });

  /** Names that more than one file exports: the same notion in another program, which cannot import the first. */
  const sharedNames: Record<string, string> = {
    // The SDK and the dashboard see over the wire what the server declares.
    BudgetFigures: 'figures of a refusal',
    CatalogModel: 'a model of the catalog',
    Company: 'a company that an account buys for',
    ConflictError: 'an expected error of GraphQL',
    NotFoundError: 'an expected error of GraphQL',
    Grant: 'a grant of a budget',
    KeyTerms: 'what the owner of a key chooses',
    Locale: 'a language of people',
    Range: 'a range of time',
    StreamError: 'an error in a stream',
    Turn: 'a turn of a conversation',
    UsageRow: 'a line of a usage report',
    createKey: 'makes a key',
    currentPrice: 'the price version that is valid now',
    parseUsd: 'reads a decimal USD amount',
    planPair: 'the plans that prices are compared with',
    // Each program has a root.
    App: 'the whole of a program',
    // The simulator plays vendors and shares no code with the protocols.
    credentialOf: 'the credential among headers',
    isObject: 'whether a value is a JSON object',
    // Pure functions on an escrow and on a budget: each says how its own money is settled.
    settle: 'a settlement',
  };

  it('declares each exported name once', () => {
    const declared = new Map<string, Set<string>>();
    const inside = ['server', 'sdk/src', 'dashboard/src'];
    for (const path of sources.filter((source) => inside.some((folder) => within(folder)(source)))) {
      const exported = codeOf(path).matchAll(
        /^export (?:async )?(?:interface|type|(?:abstract )?class|function\*?|const|let) (\w+)/gm,
      );
      for (const [, name = ''] of exported) declared.set(name, (declared.get(name) ?? new Set()).add(path));
    }
    const twice = [...declared].filter(([, paths]) => paths.size > 1);
    const unlisted = twice.filter(([name]) => sharedNames[name] === undefined);
    expect(unlisted.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([]);
    expect(Object.keys(sharedNames).filter((name) => !twice.some(([known]) => known === name))).toEqual([]);
  });

  it('says at the head of each file what the file is for', () => {
    const tests = globSync('test/**/*.{ts,tsx}', { cwd: root });
    const silent = [...sources, ...tests]
      .filter((path) => /\.tsx?$/.test(path))
      .filter((path) => {
        const text = readFileSync(join(root, path), 'utf8');
        return !/^\s*(\/\*|\/\/|$)/.test(text.replaceAll(/^(?:import\b|export (?:type )?\{)[^;]*;\s*$/gm, ''));
      });
    expect(silent).toEqual([]);
  });
});

describe('the packages', () => {
  /** The examples are written as an integrator would: they import the package by its name. */
  const isExample = (from: string, to: string): boolean => within('sdk/examples')(from) && to === '@steyg/sdk';

  it('sdk stands alone, without dependencies', () => {
    const foreign = imports.filter(
      ({ from, to }) => within('sdk')(from) && !within('sdk')(to) && !to.startsWith('node:') && !isExample(from, to),
    );
    expect(shown(foreign.filter(({ from }) => !within('sdk/generate')(from)))).toEqual([]);
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'sdk/package.json'), 'utf8')) as {
      dependencies?: object;
    };
    expect(dependencies).toEqual({});
  });

  it('dashboard reaches the server through the SDK alone', () => {
    const foreign = imports.filter((each) => within('dashboard')(each.from) && isFile(each));
    expect(shown(foreign.filter(({ to }) => !within('dashboard')(to)))).toEqual([]);
  });

  it('prisma’s scripts know the database and nothing else', () => {
    const foreign = imports.filter(({ from, to }) => within('prisma')(from) && within('server')(to));
    expect(shown(foreign.filter(({ to }) => !within('server/database')(to)))).toEqual([]);
  });
});

/** The text of a source without its comments. */
function codeOf(path: string): string {
  return readFileSync(join(root, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

/** Everything that a file needs, directly or through others. */
function closure(start: readonly string[]): Import[] {
  const seen = new Set(start);
  for (const path of seen) for (const { to } of imports.filter(({ from }) => from === path)) seen.add(to);
  return imports.filter(({ from }) => seen.has(from));
}
