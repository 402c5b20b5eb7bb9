/** A machine's disk, as far as spools and archives use one: files outlive processes, and a write may fail, or be torn by a kill. */
export interface Disk {
  openSync(path: string, flags: string): number;
  writeSync(fd: number, bytes: Buffer | string, offset?: number): number;
  readSync(fd: number, buffer: Buffer, offset: number, length: number, position: number): number;
  closeSync(fd: number): void;
  fstatSync(fd: number): { size: number; nlink: number };
  ftruncateSync(fd: number, length: number): void;
  unlinkSync(path: string): void;
  existsSync(path: string): boolean;
  readdirSync(path: string): string[];
  mkdirSync(path: string): void;
  /** With all that is in it. */
  rmSync(path: string): void;
  /** A file, or a folder with all that is in it. */
  renameSync(from: string, to: string): void;
  /** While it is full, nothing can be written. */
  full: boolean;
  /** The next write ends the process after so many of its bytes: this is told. */
  tear: (() => void) | null;
  /** Told of the next write, behind it. */
  wrote: (() => void) | null;
  /** Lines that were set aside for a person. */
  quarantined(): number;
  /** Names of the files. */
  names(): string[];
}

interface File {
  bytes: Buffer;
  links: number;
}

export function createDisk(): Disk {
  const files = new Map<string, File>();
  const folders = new Set<string>();
  const open = new Map<number, File>();
  let fds = 10;
  const isIn = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const failure = (code: string): Error => Object.assign(new Error(code), { code });
  const fileOf = (fd: number): File => {
    const file = open.get(fd);
    if (file === undefined) throw failure('EBADF');
    return file;
  };

  const disk: Disk = {
    full: false,
    tear: null,
    wrote: null,
    openSync(path, flags) {
      const known = files.get(path);
      if (flags.startsWith('r') && known === undefined) throw failure('ENOENT');
      if (flags.includes('x') && known !== undefined) throw failure('EEXIST');
      if (known === undefined && disk.full) throw failure('ENOSPC');
      const file = known ?? { bytes: Buffer.alloc(0), links: 1 };
      files.set(path, file);
      fds += 1;
      open.set(fds, file);
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
      const { wrote } = disk;
      disk.wrote = null;
      wrote?.();
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
    },
    unlinkSync(path) {
      const file = files.get(path);
      if (file === undefined) throw failure('ENOENT');
      file.links = 0;
      files.delete(path);
    },
    existsSync: (path) => folders.has(path) || files.has(path),
    readdirSync: (path) =>
      [...files.keys()].filter((name) => name.startsWith(`${path}/`)).map((name) => name.slice(path.length + 1)),
    mkdirSync: (path) => void folders.add(path),
    rmSync(path) {
      for (const [name, file] of files)
        if (isIn(path, name)) {
          file.links = 0;
          files.delete(name);
        }
      for (const folder of folders) if (isIn(path, folder)) folders.delete(folder);
    },
    renameSync(from, to) {
      if (!disk.existsSync(from)) throw failure('ENOENT');
      if (disk.existsSync(to)) throw failure('ENOTEMPTY');
      for (const [name, file] of files)
        if (isIn(from, name)) {
          files.delete(name);
          files.set(`${to}${name.slice(from.length)}`, file);
        }
      for (const folder of folders)
        if (isIn(from, folder)) {
          folders.delete(folder);
          folders.add(`${to}${folder.slice(from.length)}`);
        }
    },
    quarantined: () =>
      [...files]
        .filter(([name]) => name.endsWith('quarantine.log'))
        .reduce((sum, [, { bytes }]) => sum + bytes.toString().split('\n').length - 1, 0),
    names: () => [...files.keys()],
  };
  return disk;
}
