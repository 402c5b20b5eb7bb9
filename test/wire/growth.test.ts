import { describeGrowth } from './growth-check.ts';

// All pairs of places that name each other, where squares come from, and a tenth of the single places: all of them take
// the better part of a minute and are among the attacks.
describeGrowth(({ name }, index) => name.includes(' with ') || index % 10 === 0);
