/**
 * What a request is attributed to besides its key: a session of a client program, an end user of the customer, and tags. Each is
 * stored as a keyed digest, or as it was sent where the account asks for that. Never content.
 */
export interface Attribution {
  /** Null: the client named none. */
  session: string | null;
  user: string | null;
  /** `name=value`, each name once. */
  tags: readonly string[];
}

/** What usage can be grouped by with attributions. */
export const attributionKinds = ['session', 'user', 'tag'] as const;
export type AttributionKind = (typeof attributionKinds)[number];

/**
 * What an account has stored of its attributions: nothing, keyed digests, digests but for the tags of our own header, or the values as they
 * are sent.
 */
export const attributionModes = ['off', 'digests', 'tags', 'plain'] as const;
export type AttributionMode = (typeof attributionModes)[number];

/** The header in which a client sends its tags. */
export const tagsHeader = 'x-steyg-tags';

const maxTags = 8;
const maxHeaderCharacters = 1_024;
const maxValueCharacters = 64;
/** Of a session or a user: clients put a few ids into one. */
const maxIdCharacters = 256;

const tagName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/;
// C0, DEL and C1: neither PostgreSQL's text nor a page takes all of them.
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f]/;

/** A tag before it is stored. */
export interface Tag {
  name: string;
  value: string;
}

/** Whether a text can be kept: of a bounded length, of whole characters, without control characters. */
function isPlain(text: unknown, maxCharacters: number): text is string {
  return (
    typeof text === 'string' &&
    text.length > 0 &&
    text.length <= maxCharacters &&
    text.isWellFormed() &&
    !controls.test(text)
  );
}

/** The id of a session or a user, without surrounding blanks; null for what is none. */
export function attributionId(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > maxIdCharacters) return null;
  const id = value.trim();
  return isPlain(id, maxIdCharacters) ? id : null;
}

/** A tag of a client's own metadata; null for what is none. */
export function attributionTag(name: string, value: unknown): Tag | null {
  return tagName.test(name) && isPlain(value, maxValueCharacters) ? { name, value } : null;
}

/** The first tags of each name, up to the maximum. */
export function firstTags(tags: readonly Tag[]): Tag[] {
  const named = new Map<string, Tag>();
  for (const tag of tags) if (named.size < maxTags && !named.has(tag.name)) named.set(tag.name, tag);
  return [...named.values()];
}

/**
 * Reads the header of tags: `name=value` pairs, separated by commas, values percent-encoded where they have commas or more than
 * ASCII. Returns a sentence about what is wrong with it, which does not quote it.
 */
export function parseTags(header: string): Tag[] | string {
  if (header.length > maxHeaderCharacters) return `must have at most ${maxHeaderCharacters} characters`;
  const pairs = header.trim() === '' ? [] : header.split(',');
  if (pairs.length > maxTags) return `must have at most ${maxTags} tags`;
  const tags = new Map<string, Tag>();
  for (const [index, pair] of pairs.entries()) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    if (at < 0 || !tagName.test(name))
      return `tag ${index + 1} must be name=value, with a name of 1 to 32 letters, digits, dots, dashes and underscores`;
    const value = decoded(pair.slice(at + 1).trim());
    if (!isPlain(value, maxValueCharacters))
      return `tag ${index + 1} must have a value of 1 to ${maxValueCharacters} characters, percent-encoded beyond ASCII`;
    if (tags.has(name)) return `tag ${index + 1} has a name that another tag has`;
    tags.set(name, { name, value });
  }
  return [...tags.values()];
}

/** Null for what is not percent-encoded text in ASCII. */
function decoded(value: string): string | null {
  if (!/^[\u0020-\u007e]*$/.test(value)) return null;
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}

/** Digests an id of an account; `scope` separates sessions, users and tags. */
export type AttributionDigest = (scope: string, text: string) => string;

/** Marks digests, so that a page can tell them from values. */
const digestMark = '~';
/** 96 bits: no two ids of an account will meet. */
const digestCharacters = 16;

/** What is beyond the labels that are added up one by one: shorter than a digest, and not a tag. */
export const otherLabel = `${digestMark}other`;

export function digestedId(digest: AttributionDigest, accountId: string, kind: AttributionKind, text: string): string {
  return digestMark + digest(`attribution ${kind}:${accountId}`, text).slice(0, digestCharacters);
}

/** A tag as it is stored: its name stays readable. The digest is of both, so that equal values of two names do not meet. */
export function storedTag(digest: AttributionDigest | null, accountId: string, { name, value }: Tag): string {
  const text = `${name}=${value}`;
  return digest === null ? text : `${name}=${digestedId(digest, accountId, 'tag', text)}`;
}

/** A line of a spool may have been written by another version: what is not an attribution is dropped, the settlement never. */
export function attributionFrom(stored: unknown): Attribution | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const { session, user, tags } = stored as Partial<Record<keyof Attribution, unknown>>;
  const attribution = {
    session: attributionId(session),
    user: attributionId(user),
    tags: (Array.isArray(tags) ? (tags as unknown[]) : [])
      .filter((tag) => isPlain(tag, maxIdCharacters))
      .slice(0, maxTags),
  };
  return isEmpty(attribution) ? null : attribution;
}

export function isEmpty({ session, user, tags }: Attribution): boolean {
  return session === null && user === null && tags.length === 0;
}

/**
 * The forms in which something that a client knows by its own name may have been stored: as it is, which a digest from a list is,
 * and digested. A tag is given as `name=value`.
 */
export function storedLabels(
  digest: AttributionDigest,
  accountId: string,
  kind: AttributionKind,
  given: string,
): readonly string[] {
  if (kind !== 'tag') return [given, digestedId(digest, accountId, kind, given)];
  const at = given.indexOf('=');
  return [given, storedTag(digest, accountId, { name: given.slice(0, at), value: given.slice(at + 1) })];
}
