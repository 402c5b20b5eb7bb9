import { closeSync, existsSync, fdatasync, mkdirSync, openSync, readdirSync, unlinkSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../../shared/sync-directory.ts';
import { describe } from '../lane/failure.ts';
import type { BillingLog, BillingMetrics } from '../log.ts';
import type { Settlement } from '../types.ts';
import { decode, encode } from './spool-lines.ts';
import { openReader, type SpoolFile } from './spool-reader.ts';
import { createSegments, type ForceFile, type SpoolReceipt } from './spool-segments.ts';

export type { SpoolReceipt } from './spool-segments.ts';

/**
 * Keeps settlements on disk until the database has them. A process appends one line per settlement to its own file
 * before the client gets its last bytes, so that a crash loses none. Ids, token counts, prices and whom a request was for.
 *
 * Files are append-only and written in segments. Lines are not marked as done: a segment whose settlements are all in
 * the database is deleted, and a leftover one is replayed whole, because settling is idempotent. A busy process
 * therefore leaves at most two segments, one that is idle for a second none.
 */
export interface Spool {
  /**
   * Writes a line. Synchronous: once it returns, killing this process does not lose the line. Never throws. That the machine loses
   * its power does not lose it either once it has waited for two seconds, plus what its disk takes to write it.
   */
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

export interface SpoolParts {
  /** Created if missing. May be shared by processes of one machine. */
  directory: string;
  processId: string;
  log: BillingLog;
  metrics?: BillingMetrics;
  /** A segment of this size is closed, and the next one begins. */
  segmentBytes?: number;
  /** Forces what was written to a file to the disk, as `fdatasync` of `node:fs`. */
  forceFile?: ForceFile;
}

const quarantineName = 'quarantine.log';
const quarantineForcedMs = 1_000;

export function createSpool(parts: SpoolParts): Spool {
  const { directory, processId, log, metrics, segmentBytes = 4 * 2 ** 20, forceFile = fdatasync } = parts;
  const segments = createSegments({ directory, processId, log, metrics, segmentBytes, forceFile });
  /** Lines of this turn. */
  let soon: { receipt: SpoolReceipt; written: (receipt: SpoolReceipt) => void }[] = [];

  const writeSoon = (): void => {
    const turn = soon;
    soon = [];
    if (turn.length === 0) return;
    segments.write(turn.map(({ receipt }) => receipt));
    for (const { receipt, written } of turn) written(receipt);
  };

  const quarantine = createQuarantine(parts);

  return {
    append(settlement) {
      const receipt = receiptOf(settlement);
      segments.write([receipt]);
      return receipt;
    },

    appendSoon(settlement, written) {
      soon.push({ receipt: receiptOf(settlement), written });
      if (soon.length === 1) setImmediate(writeSoon);
    },

    acknowledge: segments.drop,

    quarantine,

    get writable() {
      return segments.writable;
    },

    get depth() {
      return segments.depth + soon.length;
    },

    others() {
      if (!existsSync(directory)) return [];
      return readdirSync(directory)
        .filter((name) => name.endsWith('.ndjson') && !name.startsWith(`${processId}.`))
        .map((name) => ({ path: join(directory, name), processId: /^([0-9a-f-]{36})\.\d+\./.exec(name)?.[1] ?? null }));
    },

    adopt: (file, replay) => adopt(file, replay, quarantine),

    close() {
      writeSoon();
      segments.close();
    },
  };
}

const receiptOf = (settlement: Settlement): SpoolReceipt => ({ line: encode(settlement), segment: null, tick: 0 });

function createQuarantine({ directory, log, metrics }: SpoolParts): Spool['quarantine'] {
  const path = join(directory, quarantineName);
  let forcing: NodeJS.Timeout | null = null;
  /** Many may be set aside at once. */
  const force = async (): Promise<void> => {
    forcing = null;
    try {
      const file = await open(path, 'r');
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
      await syncDirectory(directory);
    } catch (error) {
      log.error(describe(error), 'the quarantine cannot be forced to disk');
    }
  };

  return (settlement, reason) => {
    metrics?.fault('spool_quarantine');
    log.error({ reason }, 'a settlement was set aside');
    // It is kept for its money. Whom the request was for is left out: nobody would delete it from here when its time is over.
    const line =
      typeof settlement === 'string'
        ? settlement.replaceAll(unreadableAttribution, '').replaceAll(lostBytes, '\0')
        : encode(withoutAttribution(settlement)).trimEnd();
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const fd = openSync(path, 'a', 0o600);
      try {
        writeSync(fd, `${JSON.stringify({ at: new Date().toISOString(), reason, line })}\n`);
      } finally {
        closeSync(fd);
      }
      forcing ??= setTimeout(() => void force(), quarantineForcedMs).unref();
      return true;
    } catch (error) {
      log.error(describe(error), 'the quarantine cannot be written');
      return false;
    }
  };
}

/** What a power loss leaves of a file whose length was on disk before its bytes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const lostBytes = /\0+/g;

/** In a line that cannot be read: to the end of its object, or of the line. */
const unreadableAttribution = /"attribution":\{(?:[^"}]|"(?:[^"\\]|\\.)*(?:"|$))*\}?,?/g;

function withoutAttribution({ attribution: _attribution, ...settlement }: Settlement): Settlement {
  return settlement;
}

async function adopt(
  file: SpoolFile,
  replay: (settlement: Settlement) => Promise<void>,
  quarantine: Spool['quarantine'],
): Promise<number> {
  const reader = openReader(file.path);
  if (reader === null) return 0;
  let settled = 0;
  const settleLine = async (line: string): Promise<void> => {
    const settlement = decode(line);
    if (settlement === 'header') return;
    if (settlement === null) {
      if (line.replaceAll(lostBytes, '') === '') return;
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
    try {
      unlinkSync(file.path);
    } catch {
      // Another process has deleted it.
    }
    // If its process is alive after all, it notices after its next line that the file is gone; lines written just
    // before are read here. A line without its end is partial.
    await Promise.all([...reader.lines(), ...reader.tail()].map(settleLine));
    return settled;
  } finally {
    reader.close();
  }
}
