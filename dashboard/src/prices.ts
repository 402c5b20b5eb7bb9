/** Price versions of a model: the current one is the latest that has begun. */

export function currentPrice<Version extends { validFrom: string }>(
  versions: readonly Version[],
  now: Date = new Date(),
): Version | null {
  const valid = versions.filter(({ validFrom }) => new Date(validFrom) <= now);
  return valid.reduce<Version | null>(
    (latest, version) => (latest === null || version.validFrom > latest.validFrom ? version : latest),
    null,
  );
}
