/** Members of inputs that have taken the place of older ones, which stay for those who use them. */

/**
 * The input in the older names, as a domain takes it: a member that is given under its newer name counts in place of the
 * older one. `names`: the older name of each newer one.
 */
export function replacing<Input extends object, Newer extends keyof Input, Older extends keyof Input>(
  input: Input,
  names: Readonly<Record<Newer, Older>>,
): Omit<Input, Newer> {
  const { ...rest } = input;
  for (const [newer, older] of Object.entries(names) as [Newer, Older][]) {
    if (rest[newer] != null) rest[older] = rest[newer] as never;
    delete rest[newer];
  }
  return rest;
}
