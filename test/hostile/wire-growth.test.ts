import { describeGrowth } from '../wire/growth-check.ts';

/** The ways to make a request large that the normal run leaves out. */
describeGrowth(({ name }, index) => !name.includes(' with ') && index % 10 !== 0);
