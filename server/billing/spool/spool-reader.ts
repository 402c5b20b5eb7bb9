import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { hostname } from 'node:os';
import { parse } from './spool-lines.ts';

/** Reads the spool files of other processes. */

/** A spool file, by its name. */
export interface SpoolFile {
  path: string;
  /** Null for a file that was put there by hand. */
  processId: string | null;
}

/** Whether the process that wrote a file ran on this machine and has exited. False when unknown. */
export function writerIsGone(file: SpoolFile): boolean {
  const header = parse(firstLine(file.path));
  if (header === null || header['host'] !== hostname() || typeof header['pid'] !== 'number') return false;
  // Not our file, so the earlier process with our pid has exited: pids are reused after a container's restart.
  if (header['pid'] === process.pid) return true;
  try {
    process.kill(header['pid'], 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function firstLine(path: string): string {
  const buffer = Buffer.alloc(512);
  try {
    const fd = openSync(path, 'r');
    try {
      return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0)).split('\n', 1)[0] ?? '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

/** Reads lines of a file that may grow or be deleted meanwhile. Null when it does not exist. */
export function openReader(path: string) {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return null;
  }
  let at = 0;
  /** Bytes, because it may end in the middle of a character. */
  let rest = Buffer.alloc(0);
  return {
    /** The complete lines that were not read yet. */
    lines(): string[] {
      const buffer = Buffer.alloc(Math.max(0, fstatSync(fd).size - at));
      const read = readSync(fd, buffer, 0, buffer.length, at);
      at += read;
      const unread = Buffer.concat([rest, buffer.subarray(0, read)]);
      const end = unread.lastIndexOf('\n') + 1;
      rest = unread.subarray(end);
      const lines = unread.toString('utf8', 0, end).split('\n');
      return lines.filter((line) => line !== '');
    },
    /** The partial line at the end. */
    tail: (): string[] => (rest.length === 0 ? [] : [rest.toString()]),
    hasMore: (): boolean => fstatSync(fd).size > at,
    close: (): void => closeSync(fd),
  };
}
