/**
 * Whether a reported model name means the requested model. Vendors answer with a dated name of the same model
 * (`name-2026-05-01`, `name@20260501`, `name-0613`), with a name in place of `-latest`, or without a reseller's path
 * prefix. Other names with the same prefix (`name-mini`, `name-4-1` for `name-4`) are other models.
 */
export function isSameModel(asked: string, reported: string): boolean {
  const [wanted, got] = [bare(asked), bare(reported)];
  if (got === wanted) return true;
  const stem = wanted.replace(/[-@:]latest$/, '');
  if (got === stem) return true;
  return got.startsWith(stem) && dated.test(got.slice(stem.length));
}

/** A date or a four-digit day, and an optional suffix. */
const dated = /^[-@:](?:20\d{2}-?\d{2}-?\d{2}|\d{4})(?:[-@:].*)?$/;

function bare(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}
