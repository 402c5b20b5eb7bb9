/** Reasoning efforts that a request can ask for, weakest first. `none`: not at all. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** Whether a request asks the model to reason, asks it not to, or leaves it to the model. */
export type ReasoningAsk = 'on' | 'off' | 'unsaid';
