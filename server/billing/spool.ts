import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe } from './failure.ts';
import type { BillingLog, BillingMetrics } from './log.ts';
import type { EscrowPromise, Settlement } from './types.ts';

/**
 * Keeps settlements on disk until the database has them. A process appends one line per settlement to its own file
 * before the client gets its last bytes, so that a crash loses none. Ids, token counts and prices only.
 *
 * Files are append-only and written in segments. Lines are not marked as done: a segment whose settlements are all in
 * the database is deleted, and a leftover one is replayed whole, because settling is idempotent. A busy process
 * therefore leaves at most two segments, an idle one none.
 */
export interface Spool {
  /** Writes a line. Synchronous: once it returns, killing this process does not lose the line. Never throws. */
  append(settlement: Settlement): SpoolReceipt;
  /**
   * Writes a line at the end of this turn of the event loop, together with the turn's other lines, then calls
   * `written`: one write costs the same for any number of lines. `written` must not throw.
   */
  appendSoon(settlement: Settlement, written: (receipt: SpoolReceipt) => void): void;
  /** The database has the settlement. */
  acknowledge(receipt: SpoolReceipt): void;
  /** Sets a settlement that cannot be committed aside for an operator. False when that fails too. */
  quarantine(settlement: Settlement | string, reason: string): boolean;
  /** False while writes to the disk fail. Waiting lines are written as soon as they succeed again. */
  readonly writable: boolean;
  /** Number of lines that the database does not have yet, on disk or waiting to be written. */
  readonly depth: number;
  /** Files of other processes. */
  others(): SpoolFile[];
  /**
   * Settles the lines of a file and deletes it. `replay` resolves when a settlement is in the database or set aside.
   * Unreadable lines go to quarantine. Safe even if its process turns out to be alive.
   */
  adopt(file: SpoolFile, replay: (settlement: Settlement) => Promise<void>): Promise<number>;
  /** Deletes files that are no longer needed. Later lines are still written. */
  close(): void;
}

/** A spool file, by its name. */
export interface SpoolFile {
  path: string;
  /** Null for a file that was put there by hand. */
  processId: string | null;
}

/** A line that is on disk, or waits to be. */
export interface SpoolReceipt {
  readonly line: string;
  segment: Segment | null;
}

interface Segment {
  path: string;
  fd: number;
  bytes: number;
  /** Lines that the database does not have yet. */
  waiting: Set<SpoolReceipt>;
}

export interface SpoolParts {
  /** Created if missing. May be shared by processes of one machine. */
  directory: string;
  processId: string;
  log: BillingLog;
  metrics?: BillingMetrics;
  /** A segment of this size is closed, and the next one begins. */
  segmentBytes?: number;
}

/** A segment of this size is deleted as soon as it is done; smaller ones are appended to. */
const worthDeletingBytes = 512 * 1_024;
const retryMs = 1_000;
const quarantineName = 'quarantine.log';

export function createSpool(parts: SpoolParts): Spool {
  const { directory, processId, log, metrics, segmentBytes = 4 * 2 ** 20 } = parts;
  const quarantinePath = join(directory, quarantineName);
  /** Lines whose write failed. */
  const unwritten = new Set<SpoolReceipt>();
  /** Lines of this turn. */
  let soon: { receipt: SpoolReceipt; written: (receipt: SpoolReceipt) => void }[] = [];
  const segments = new Set<Segment>();
  let current: Segment | null = null;
  let number = 0;
  let retry: NodeJS.Timeout | null = null;

  const openSegment = (): Segment => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, `${processId}.${number}.ndjson`);
    const segment: Segment = { path, fd: openSync(path, 'ax', 0o600), bytes: 0, waiting: new Set() };
    number += 1;
    segments.add(segment);
    put(segment, `${JSON.stringify({ host: hostname(), pid: process.pid })}\n`);
    return segment;
  };

  /** Appends, whole or not at all. */
  const put = (segment: Segment, line: string): void => {
    const bytes = Buffer.from(line);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(segment.fd, bytes, at);
    } catch (error) {
      // A partial line would look like corruption to a reader of the file.
      attempt(() => ftruncateSync(segment.fd, segment.bytes));
      throw error;
    }
    segment.bytes += bytes.length;
  };

  const write = (receipts: readonly SpoolReceipt[]): void => {
    try {
      current ??= openSegment();
      put(current, linesOf(receipts));
      // Another process took this one for dead, settled the file and deleted it: the lines need another file.
      if (fstatSync(current.fd).nlink === 0) {
        moveOut(current);
        current = openSegment();
        for (const lost of [...receipts, ...unwritten]) {
          put(current, lost.line);
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
      if (retry === null) {
        metrics?.fault('spool_unwritable');
        log.error(describe(error), 'the spool cannot be written');
        retry = setInterval(writeAgain, retryMs);
        retry.unref();
      }
    }
  };

  const keep = (receipt: SpoolReceipt, segment: Segment): void => {
    unwritten.delete(receipt);
    receipt.segment = segment;
    segment.waiting.add(receipt);
  };

  /** The segment's file was deleted: its waiting lines are not on disk. */
  const moveOut = (segment: Segment): void => {
    for (const receipt of segment.waiting) {
      receipt.segment = null;
      unwritten.add(receipt);
    }
    segment.waiting.clear();
    remove(segment);
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
    if (retry !== null) clearInterval(retry);
    retry = null;
    log.info({ lines: lines.length }, 'the spool can be written again');
  };

  const writeOrKeep = (receipts: readonly SpoolReceipt[]): void => {
    // While the disk is full every write costs time; the retry writes the waiting lines.
    if (retry === null) write(receipts);
    else for (const receipt of receipts) unwritten.add(receipt);
  };

  const writeSoon = (): void => {
    const turn = soon;
    soon = [];
    if (turn.length === 0) return;
    writeOrKeep(turn.map(({ receipt }) => receipt));
    for (const { receipt, written } of turn) written(receipt);
  };

  const remove = (segment: Segment): void => {
    segments.delete(segment);
    if (current === segment) current = null;
    attempt(() => closeSync(segment.fd));
    attempt(() => unlinkSync(segment.path));
  };

  const quarantine = (settlement: Settlement | string, reason: string): boolean => {
    metrics?.fault('spool_quarantine');
    log.error({ reason }, 'a settlement was set aside');
    const line = typeof settlement === 'string' ? settlement : encode(settlement).trimEnd();
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const fd = openSync(quarantinePath, 'a', 0o600);
      try {
        writeSync(fd, `${JSON.stringify({ at: new Date().toISOString(), reason, line })}\n`);
      } finally {
        closeSync(fd);
      }
      return true;
    } catch (error) {
      log.error(describe(error), 'the quarantine cannot be written');
      return false;
    }
  };

  return {
    append(settlement) {
      const receipt: SpoolReceipt = { line: encode(settlement), segment: null };
      writeOrKeep([receipt]);
      return receipt;
    },

    appendSoon(settlement, written) {
      soon.push({ receipt: { line: encode(settlement), segment: null }, written });
      if (soon.length === 1) setImmediate(writeSoon);
    },

    acknowledge(receipt) {
      unwritten.delete(receipt);
      const { segment } = receipt;
      if (segment === null) return;
      segment.waiting.delete(receipt);
      if (segment.waiting.size === 0 && (segment !== current || segment.bytes >= worthDeletingBytes)) remove(segment);
    },

    quarantine,

    get writable() {
      return retry === null;
    },

    get depth() {
      let lines = unwritten.size + soon.length;
      for (const { waiting } of segments) lines += waiting.size;
      return lines;
    },

    others() {
      if (!existsSync(directory)) return [];
      return readdirSync(directory)
        .filter((name) => name.endsWith('.ndjson') && !name.startsWith(`${processId}.`))
        .map((name) => ({ path: join(directory, name), processId: /^([0-9a-f-]{36})\.\d+\./.exec(name)?.[1] ?? null }));
    },

    async adopt(file, replay) {
      const reader = openReader(file.path);
      if (reader === null) return 0;
      let settled = 0;
      const settleLine = async (line: string): Promise<void> => {
        const settlement = decode(line);
        if (settlement === 'header') return;
        if (settlement === null) {
          if (!quarantine(line, 'unreadable line of a spool')) throw new Error('the quarantine cannot be written');
          return;
        }
        await replay(settlement);
        settled += 1;
      };
      try {
        // Lines that were appended meanwhile are read in the next round.
        do await Promise.all(reader.lines().map(settleLine));
        while (reader.hasMore());
        attempt(() => unlinkSync(file.path));
        // If its process is alive after all, it notices after its next line that the file is gone; lines written just
        // before are read here. A line without its end is partial.
        await Promise.all([...reader.lines(), ...reader.tail()].map(settleLine));
        return settled;
      } finally {
        reader.close();
      }
    },

    close() {
      writeSoon();
      if (retry !== null) clearInterval(retry);
      // A later line gets a new file.
      current = null;
      for (const segment of segments) {
        if (segment.waiting.size === 0) remove(segment);
        else attempt(() => closeSync(segment.fd));
      }
    },
  };
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
function openReader(path: string) {
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

function linesOf(receipts: readonly SpoolReceipt[]): string {
  let lines = '';
  for (const { line } of receipts) lines += line;
  return lines;
}

/** Amounts are decimal strings, as everywhere outside the program. */
function encode(settlement: Settlement): string {
  const { id, input, cacheHit, cacheWrite5m, cacheWrite1h, output } = settlement.price;
  const line = {
    ...settlement,
    price: {
      id,
      input: String(input),
      cacheHit: String(cacheHit),
      cacheWrite5m: String(cacheWrite5m),
      cacheWrite1h: String(cacheWrite1h),
      output: String(output),
    },
    upstreamCost: settlement.upstreamCost === null ? null : String(settlement.upstreamCost),
    ...(settlement.promise === undefined ? {} : { promise: encodePromise(settlement.promise) }),
  };
  return `${JSON.stringify(line)}\n`;
}

/** Decodes a line to a settlement; null for an invalid line. */
function decode(line: string): Settlement | 'header' | null {
  const value = parse(line);
  if (value === null) return null;
  if ('pid' in value) return 'header';
  const { price, usage } = value;
  if (!isObject(price) || !isObject(usage)) return null;
  try {
    return {
      ...(value as unknown as Settlement),
      price: {
        id: String(price['id']),
        input: toPico(price['input']),
        cacheHit: toPico(price['cacheHit']),
        cacheWrite5m: toPico(price['cacheWrite5m']),
        cacheWrite1h: toPico(price['cacheWrite1h']),
        output: toPico(price['output']),
      },
      upstreamCost: value['upstreamCost'] === null ? null : toPico(value['upstreamCost']),
      ...(value['promise'] === undefined ? {} : { promise: decodePromise(value['promise']) }),
    };
  } catch {
    return null;
  }
}

function encodePromise({ escrowId, parts }: EscrowPromise): object {
  return { escrowId, parts: parts.map(({ grantId, amount }) => [grantId, String(amount)]) };
}

function decodePromise(value: unknown): EscrowPromise {
  if (!isObject(value) || !Array.isArray(value['parts'])) throw new TypeError('not a promise of an escrow');
  const parts = value['parts'].map((part: unknown) => {
    if (!Array.isArray(part)) throw new TypeError('not a part of a promise');
    return { grantId: String(part[0]), amount: toPico(part[1]) };
  });
  return { escrowId: String(value['escrowId']), parts };
}

function toPico(value: unknown): bigint {
  if (typeof value !== 'string') throw new TypeError('an amount is a string');
  return BigInt(value);
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Runs an action whose failure does no harm. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {}
}
