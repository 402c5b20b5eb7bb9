import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { syncDirectory } from '../../shared/sync-directory.ts';
import { describe } from '../lane/failure.ts';
import type { BillingLog, BillingMetrics } from '../log.ts';

/**
 * The spool files of this process. They are append-only and written in segments: lines are not marked as done, a segment
 * whose lines are all done is deleted. Lines that wait for the database longer than a moment are forced to disk, beside the
 * requests: a healthy process forces none.
 */
export interface Segments {
  /** Appends lines, or keeps them in memory until the disk takes them. Never throws. */
  write(receipts: readonly SpoolReceipt[]): void;
  /** A line is no longer needed. */
  drop(receipt: SpoolReceipt): void;
  /** False while writes fail. */
  readonly writable: boolean;
  /** Lines that are still needed, on disk or waiting to be written. */
  readonly depth: number;
  /** Deletes the files that are no longer needed. A later line gets a new file. */
  close(): void;
}

/** A line that is on disk, or waits to be. */
export interface SpoolReceipt {
  readonly line: string;
  segment: Segment | null;
  /** Ticks of the spool until it was written. */
  tick: number;
}

interface Segment {
  path: string;
  fd: number;
  bytes: number;
  /** So many of them are on disk whatever happens to the machine, and so is the name. */
  forcedBytes: number;
  /** Lines that the database does not have yet, oldest first. */
  waiting: Set<SpoolReceipt>;
}

export interface SegmentsParts {
  directory: string;
  processId: string;
  log: BillingLog;
  metrics: BillingMetrics | undefined;
  /** A segment of this size is closed, and the next one begins. */
  segmentBytes: number;
  forceFile: ForceFile;
}

export type ForceFile = (fd: number, done: (error: Error | null) => void) => void;

/** A segment of this size is deleted as soon as it is done; smaller ones are appended to for a moment. */
const worthDeletingBytes = 512 * 1_024;
/** How often it is looked after. Lines say whom a request was for: what the database has is not kept here for longer. */
const tickMs = 1_000;
const retryMs = 1_000;

export function createSegments({
  directory,
  processId,
  log,
  metrics,
  segmentBytes,
  forceFile,
}: SegmentsParts): Segments {
  /** Lines whose write failed. */
  const unwritten = new Set<SpoolReceipt>();
  const segments = new Set<Segment>();
  let current: Segment | null = null;
  let number = 0;
  let retry: NodeJS.Timeout | null = null;
  let ticks = 0;
  let ticking: NodeJS.Timeout | null = null;
  let isForcing = false;

  const tick = (): void => {
    ticks += 1;
    if (current?.waiting.size === 0) remove(current);
    void force();
    if (segments.size > 0) return;
    if (ticking !== null) clearInterval(ticking);
    ticking = null;
  };

  /** Forces segments to disk whose lines wait for more than a tick already: the database gets most of them at once. */
  const force = async (): Promise<void> => {
    if (isForcing) return;
    isForcing = true;
    for (const segment of segments) {
      const [oldest] = segment.waiting;
      const { bytes, fd } = segment;
      if (oldest === undefined || oldest.tick > ticks - 2 || segment.forcedBytes === bytes) continue;
      try {
        await new Promise<void>((resolve, reject) => {
          forceFile(fd, (error) => (error === null ? resolve() : reject(error)));
        });
        if (segment.forcedBytes === 0) await forceNames();
        segment.forcedBytes = bytes;
      } catch (error) {
        // Unless it is closed: it was no longer needed.
        if (segments.has(segment)) replace(segment, error);
      }
    }
    isForcing = false;
  };

  /** Where a folder cannot be opened or forced, that a file has its name is up to the file system. */
  const forceNames = async (): Promise<void> => {
    for (const path of [directory, dirname(directory)]) await syncDirectory(path).catch(() => undefined);
  };

  /** What could not be forced may be gone, although later attempts succeed (fsync(2)): its lines are written into another file. */
  const replace = (segment: Segment, error: unknown): void => {
    moveOut(segment, unwritten);
    if (current === segment) current = null;
    fail(error);
  };

  const openSegment = (): Segment => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const segment = createSegment(join(directory, `${processId}.${number}.ndjson`));
    number += 1;
    segments.add(segment);
    ticking ??= setInterval(tick, tickMs).unref();
    return segment;
  };

  const write = (receipts: readonly SpoolReceipt[]): void => {
    try {
      current ??= openSegment();
      append(current, linesOf(receipts));
      // Another process took this one for dead, settled the file and deleted it: the lines need another file.
      if (fstatSync(current.fd).nlink === 0) {
        moveOut(current, unwritten);
        remove(current);
        current = openSegment();
        for (const lost of [...receipts, ...unwritten]) {
          append(current, lost.line);
          keep(lost, current);
        }
        return;
      }
      for (const receipt of receipts) keep(receipt, current);
      if (current.bytes >= segmentBytes) current = null;
    } catch (error) {
      for (const receipt of receipts) unwritten.add(receipt);
      // A segment whose write failed is not appended to again.
      if (current?.waiting.size === 0) remove(current);
      current = null;
      fail(error);
    }
  };

  const fail = (error: unknown): void => {
    if (retry !== null) return;
    metrics?.fault('spool_unwritable');
    log.error(describe(error), 'the spool cannot be written');
    retry = setInterval(writeAgain, retryMs);
    retry.unref();
  };

  const keep = (receipt: SpoolReceipt, segment: Segment): void => {
    unwritten.delete(receipt);
    receipt.segment = segment;
    receipt.tick = ticks;
    segment.waiting.add(receipt);
  };

  const writeAgain = (): void => {
    const lines = [...unwritten];
    unwritten.clear();
    try {
      // Opens a segment even when no line waits, as proof that the disk is writable.
      current ??= openSegment();
    } catch {
      for (const line of lines) unwritten.add(line);
      return;
    }
    for (const line of lines) write([line]);
    if (unwritten.size > 0) return;
    // Those whose lines are in another file now.
    for (const segment of segments) if (segment !== current && segment.waiting.size === 0) remove(segment);
    if (retry !== null) clearInterval(retry);
    retry = null;
    log.info({ lines: lines.length }, 'the spool can be written again');
  };

  const remove = (segment: Segment): void => {
    segments.delete(segment);
    if (current === segment) current = null;
    deleteFile(segment);
  };

  return {
    write(receipts) {
      // While the disk is full every write costs time; the retry writes the waiting lines.
      if (retry === null) write(receipts);
      else for (const receipt of receipts) unwritten.add(receipt);
    },

    drop(receipt) {
      unwritten.delete(receipt);
      const { segment } = receipt;
      if (segment === null) return;
      segment.waiting.delete(receipt);
      if (segment.waiting.size > 0) return;
      // Otherwise the next tick does.
      if (segment !== current || segment.bytes >= worthDeletingBytes) remove(segment);
    },

    get writable() {
      return retry === null;
    },

    get depth() {
      let lines = unwritten.size;
      for (const { waiting } of segments) lines += waiting.size;
      return lines;
    },

    close() {
      for (const timer of [retry, ticking]) if (timer !== null) clearInterval(timer);
      ticking = null;
      current = null;
      for (const segment of segments) {
        if (segment.waiting.size === 0 && unwritten.size === 0) {
          remove(segment);
          continue;
        }
        attempt(() => fdatasyncSync(segment.fd));
        segment.forcedBytes = segment.bytes;
        attempt(() => closeSync(segment.fd));
      }
      if (segments.size > 0) attempt(() => syncNames(directory));
    },
  };
}

/** The segment's file was deleted: its waiting lines are not on disk. */
function moveOut(segment: Segment, unwritten: Set<SpoolReceipt>): void {
  for (const receipt of segment.waiting) {
    receipt.segment = null;
    unwritten.add(receipt);
  }
  segment.waiting.clear();
}

/** As `syncDirectory`, at the end of a process. */
function syncNames(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A new file, whose header names the process that writes it. */
function createSegment(path: string): Segment {
  const segment: Segment = { path, fd: openSync(path, 'ax', 0o600), bytes: 0, forcedBytes: 0, waiting: new Set() };
  try {
    append(segment, `${JSON.stringify({ host: hostname(), pid: process.pid })}\n`);
    return segment;
  } catch (error) {
    deleteFile(segment);
    throw error;
  }
}

function deleteFile({ fd, path }: Segment): void {
  attempt(() => closeSync(fd));
  attempt(() => unlinkSync(path));
}

/** Appends, whole or not at all. */
function append(segment: Segment, lines: string): void {
  const bytes = Buffer.from(lines);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(segment.fd, bytes, at);
  } catch (error) {
    // A partial line would look like corruption to a reader of the file.
    attempt(() => ftruncateSync(segment.fd, segment.bytes));
    throw error;
  }
  segment.bytes += bytes.length;
}

function linesOf(receipts: readonly SpoolReceipt[]): string {
  let lines = '';
  for (const { line } of receipts) lines += line;
  return lines;
}

/** Runs an action whose failure does no harm. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {}
}
