import type { Random } from './scheduler.ts';

/**
 * A machine's disk, as far as spools and archives use one: files outlive processes, a write may fail, or be torn by a kill, and
 * what nobody forced to it may be gone when the machine loses its power.
 */
export interface Disk {
  openSync(path: string, flags: string): number;
  writeSync(fd: number, bytes: Buffer | string, offset?: number): number;
  readSync(fd: number, buffer: Buffer, offset: number, length: number, position: number): number;
  closeSync(fd: number): void;
  fstatSync(fd: number): { size: number; nlink: number };
  ftruncateSync(fd: number, length: number): void;
  /** Of a file, its bytes are kept from now on; of a folder, the names in it. */
  fsyncSync(fd: number): void;
  fdatasyncSync(fd: number): void;
  unlinkSync(path: string): void;
  existsSync(path: string): boolean;
  readdirSync(path: string): string[];
  /** With the folders above it. */
  mkdirSync(path: string): void;
  /** With all that is in it. */
  rmSync(path: string): void;
  /** A file, or a folder with all that is in it. */
  renameSync(from: string, to: string): void;
  /** What was not forced may be gone, by chance: bytes behind those that were, whole blocks of them, the last changes of names. */
  losePower(random: Random): void;
  /** While it is full, nothing can be written. */
  full: boolean;
  /** The next write ends the process after so many of its bytes: this is told. */
  tear: (() => void) | null;
  /** Paths of the files. */
  names(): string[];
}

interface File {
  kind: 'file';
  bytes: Buffer;
  /** So many of its first bytes are kept. */
  forced: number;
  links: number;
}

interface Folder {
  kind: 'folder';
  names: Map<string, File | Folder>;
  /** What is kept, and what was changed since: a name and what it stands for, null for nothing. What is one change is kept as one. */
  keptNames: Map<string, File | Folder>;
  changes: [string, File | Folder | null][][];
}

const blockBytes = 4_096;

const failure = (code: string): Error => Object.assign(new Error(code), { code });
const newFolder = (): Folder => ({ kind: 'folder', names: new Map(), keptNames: new Map(), changes: [] });
const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.');

export function createDisk(): Disk {
  const root = newFolder();
  const open = new Map<number, File | Folder>();
  let fds = 10;

  const find = (parts: readonly string[]): File | Folder | undefined =>
    parts.reduce<File | Folder | undefined>(
      (node, part) => (node?.kind === 'folder' ? node.names.get(part) : undefined),
      root,
    );
  /** The folder that a path is in, and its name there. */
  const place = (path: string): [Folder, string] => {
    const parts = partsOf(path);
    const name = parts.pop() ?? '';
    const folder = find(parts);
    if (folder?.kind !== 'folder') throw failure('ENOENT');
    return [folder, name];
  };
  const change = (folder: Folder, ...changes: [string, File | Folder | null][]): void => {
    for (const [name, node] of changes)
      if (node === null) folder.names.delete(name);
      else folder.names.set(name, node);
    folder.changes.push(changes);
  };
  const fileOf = (fd: number): File => {
    const file = open.get(fd);
    if (file?.kind !== 'file') throw failure('EBADF');
    return file;
  };
  const force = (fd: number): void => {
    const node = open.get(fd);
    if (node === undefined) throw failure('EBADF');
    if (node.kind === 'file') {
      node.forced = node.bytes.length;
      return;
    }
    node.keptNames = new Map(node.names);
    node.changes = [];
  };
  const unlink = (node: File | Folder): void => {
    if (node.kind === 'file') node.links = 0;
    else for (const each of node.names.values()) unlink(each);
  };
  const pathsOf = (folder: Folder, path: string): string[] =>
    [...folder.names].flatMap(([name, node]) =>
      node.kind === 'file' ? [`${path}/${name}`] : pathsOf(node, `${path}/${name}`),
    );

  /** In the order of a journal: of several changes of a folder's names the first ones may be kept, and the last ones not. */
  const loseNames = (folder: Folder, random: Random): void => {
    const names = new Map(folder.keptNames);
    for (const changes of folder.changes.slice(0, random.below(folder.changes.length + 1)))
      for (const [name, node] of changes)
        if (node === null) names.delete(name);
        else names.set(name, node);
    folder.names = names;
    folder.keptNames = new Map(names);
    folder.changes = [];
    for (const node of names.values())
      if (node.kind === 'folder') loseNames(node, random);
      else loseBytes(node, random);
  };
  /** The length that was not forced is any, and a block within it may hold nothing. */
  const loseBytes = (file: File, random: Random): void => {
    const bytes = Buffer.from(file.bytes.subarray(0, file.forced + random.below(file.bytes.length - file.forced + 1)));
    for (let at = file.forced; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + blockBytes - (at % blockBytes));
      if (random.chance(0.2)) bytes.fill(0, at, end);
      at = end;
    }
    file.bytes = bytes;
    file.forced = bytes.length;
    file.links = 1;
  };

  const disk: Disk = {
    full: false,
    tear: null,
    openSync(path, flags) {
      const known = find(partsOf(path));
      if (flags.startsWith('r') && known === undefined) throw failure('ENOENT');
      if (flags.includes('x') && known !== undefined) throw failure('EEXIST');
      if (known === undefined && disk.full) throw failure('ENOSPC');
      const node: File | Folder = known ?? { kind: 'file', bytes: Buffer.alloc(0), forced: 0, links: 1 };
      if (known === undefined) {
        const [folder, name] = place(path);
        change(folder, [name, node]);
      }
      fds += 1;
      open.set(fds, node);
      return fds;
    },
    writeSync(fd, given, offset = 0) {
      const file = fileOf(fd);
      if (disk.full) throw failure('ENOSPC');
      const bytes = Buffer.from(given as Buffer).subarray(offset);
      const { tear } = disk;
      disk.tear = null;
      file.bytes = Buffer.concat([file.bytes, tear === null ? bytes : bytes.subarray(0, bytes.length >> 1)]);
      if (tear !== null) {
        tear();
        throw failure('EKILLED');
      }
      return bytes.length;
    },
    readSync(fd, buffer, offset, length, position) {
      return fileOf(fd).bytes.copy(buffer, offset, position, position + length);
    },
    closeSync: (fd) => void open.delete(fd),
    fstatSync: (fd) => ({ size: fileOf(fd).bytes.length, nlink: fileOf(fd).links }),
    ftruncateSync(fd, length) {
      const file = fileOf(fd);
      file.bytes = file.bytes.subarray(0, length);
      file.forced = Math.min(file.forced, length);
    },
    fsyncSync: force,
    fdatasyncSync: force,
    unlinkSync(path) {
      const [folder, name] = place(path);
      const file = folder.names.get(name);
      if (file === undefined) throw failure('ENOENT');
      unlink(file);
      change(folder, [name, null]);
    },
    existsSync: (path) => find(partsOf(path)) !== undefined,
    readdirSync(path) {
      const folder = find(partsOf(path));
      if (folder?.kind !== 'folder') throw failure('ENOENT');
      return [...folder.names.keys()];
    },
    mkdirSync(path) {
      let folder = root;
      for (const part of partsOf(path)) {
        const known = folder.names.get(part);
        if (known?.kind === 'file') throw failure('ENOTDIR');
        const next = known ?? newFolder();
        if (known === undefined) change(folder, [part, next]);
        folder = next;
      }
    },
    rmSync(path) {
      const node = find(partsOf(path));
      if (node === undefined) return;
      const [folder, name] = place(path);
      unlink(node);
      change(folder, [name, null]);
    },
    renameSync(from, to) {
      const [folder, name] = place(from);
      const [toFolder, toName] = place(to);
      const node = folder.names.get(name);
      if (node === undefined) throw failure('ENOENT');
      if (toFolder.names.has(toName)) throw failure('ENOTEMPTY');
      if (toFolder !== folder) throw failure('EXDEV');
      change(folder, [name, null], [toName, node]);
    },
    losePower(random) {
      open.clear();
      loseNames(root, random);
    },
    names: () => pathsOf(root, ''),
  };
  return disk;
}
