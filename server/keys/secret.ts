import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Creates and parses secrets of programs: a prefix for the kind, 32 random bytes in base 62, and a checksum. Prefix and
 * checksum let scanners recognise a leaked secret, and let the gateway refuse garbage without a query. A slow hash
 * would add nothing: 256 random bits cannot be guessed.
 */
const prefixes = { key: 'sk-steyg-', token: 'tk-steyg-', agent: 'pa-steyg-' } as const;

/**
 * `key` opens the model endpoints, `token` the control plane, `agent` the reports of probes; none opens what is
 * another's.
 */
export type SecretKind = keyof typeof prefixes;

const randomLength = 43;
const checksumLength = 6;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Characters of the random part that are stored in clear, for identification. */
const shownLength = 4;

/** A new secret, and the parts of it that are stored. */
export interface FreshSecret {
  /** Shown once, never stored. */
  secret: string;
  /** SHA-256 of the secret. */
  hash: Buffer;
  prefix: string;
  last4: string;
}

export function createSecret(kind: SecretKind): FreshSecret {
  const body = prefixes[kind] + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), randomLength);
  const secret = body + checksum(body);
  return {
    secret,
    hash: digest(secret),
    prefix: secret.slice(0, prefixes[kind].length + shownLength),
    last4: secret.slice(-4),
  };
}

/** The digest that a key is looked up by; null when prefix or checksum are wrong. */
export function parseKey(text: string): { hash: Buffer } | null {
  return parseSecret('key', text);
}

/** The digest that an access token is looked up by; null when prefix or checksum are wrong. */
export function parseToken(text: string): { hash: Buffer } | null {
  return parseSecret('token', text);
}

/** The digest that a probe agent is looked up by; null when prefix or checksum are wrong. */
export function parseAgentToken(text: string): { hash: Buffer } | null {
  return parseSecret('agent', text);
}

function parseSecret(kind: SecretKind, text: string): { hash: Buffer } | null {
  const prefix = prefixes[kind];
  if (text.length !== prefix.length + randomLength + checksumLength || !text.startsWith(prefix)) return null;
  if (!/^[0-9A-Za-z]+$/.test(text.slice(prefix.length))) return null;
  const body = text.slice(0, -checksumLength);
  return text === body + checksum(body) ? { hash: digest(text) } : null;
}

function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = alphabet.charAt(Number(rest % 62n)) + digits;
  return digits;
}
