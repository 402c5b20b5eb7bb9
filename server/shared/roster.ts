/**
 * The members of something that many requests join and leave, in the order in which they joined.
 *
 * V8 replaces the table of a `Set` or `Map` every few dozen changes. A discarded table refers to its successor and to its
 * last members. Once one of them is in the old generation, minor collections keep all later tables alive, and with them
 * nearly every request that was ever a member, until the next full collection. So an entry is emptied when it leaves.
 */
export interface Roster<Member> {
  readonly size: number;
  /** Returns the function that ends the membership. */
  join(member: Member): () => void;
  /** Members that leave meanwhile are not visited any more. */
  visit(visitor: (member: Member) => void): void;
  clear(): void;
}

export function createRoster<Member extends object>(): Roster<Member> {
  const entries = new Set<{ member: Member | null }>();
  return {
    get size() {
      return entries.size;
    },
    join(joined) {
      const entry: { member: Member | null } = { member: joined };
      entries.add(entry);
      return () => {
        entries.delete(entry);
        entry.member = null;
      };
    },
    visit(visitor) {
      for (const { member } of entries) if (member !== null) visitor(member);
    },
    clear() {
      entries.clear();
    },
  };
}
