/** What the model is asked for in place of the trigger. */
export const handOver = [
  'The conversation up to here is about to be replaced by what you write now. Write a hand-over for whoever goes on with this work without having seen the conversation.',
  'Say what the user asked for, with every condition they named, in their own words where they bind; what has been done and decided, and why; exact names of files, commands, values and error messages that are still needed; what is unfinished; and the next step.',
  'Write the hand-over alone. Call no tool.',
].join('\n');
/** Bytes that the wording above adds to a request, for its hold. */
export const compactionBytes = Buffer.byteLength(handOver) + 100;
