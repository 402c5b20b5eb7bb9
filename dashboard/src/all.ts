/** Reads every element of a paged list, up to a limit: charts need them all, and a page is at most a thousand. */
export async function collect<T>(list: AsyncIterable<T>, most = 20_000): Promise<T[]> {
  const all: T[] = [];
  for await (const one of list) {
    all.push(one);
    if (all.length >= most) break;
  }
  return all;
}
