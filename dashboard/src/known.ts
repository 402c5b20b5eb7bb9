/**
 * A value for a form that saves what it was given. An answer has null for what a newer version of the service wrote: the
 * server refuses that, so that saving never changes it.
 */
export const asSent = <Value extends string>(value: Value | null): Value => value as Value;
