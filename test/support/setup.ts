/** Before each test file: what chance and the clock would decide is decided in the same way in every run. */

import { setTimeout as delay } from 'node:timers/promises';
import { configureGlobal } from 'fast-check';

// A run judges the code and not the luck of its generators. FAST_CHECK_SEED=$RANDOM looks for new counterexamples.
configureGlobal({ seed: Number(process.env['FAST_CHECK_SEED'] ?? 20_261_123) });

/** Longer than a file takes between what it writes and what it reads back. */
const clearOfTurnMs = 45_000;
const hourMs = 3_600_000;

// The turn of an hour may be that of a day, a week or a month in some time zone: files begin after it, not around it.
const leftMs = hourMs - (Date.now() % hourMs);
if (leftMs < clearOfTurnMs) await delay(leftMs + 50);
