/** What a provider vouches for, and the ways in which asking it can end. Nothing a provider writes is shown on a page. */

import { randomBytes } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { textProblem } from '../../shared/plain-text.ts';
import { personAddress } from '../address.ts';

/** A person as a provider knows them. */
export interface Vouched {
  /** The issuer's address; `subject` means nothing without it (OpenID Connect Core 1.0, section 5.7). */
  issuer: string;
  /** 1 to 255 characters. */
  subject: string;
  /** In its one spelling; null: the provider did not say that it confirmed one. */
  email: string | null;
  name: string | null;
}

/** The secrets of one flow: they are kept in the browser that began it, sealed. */
export interface FlowSecrets {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** 256 bits each; the form of a verifier is RFC 7636's. */
export function newSecrets(): FlowSecrets {
  const secret = (): string => randomBytes(32).toString('base64url');
  return { state: secret(), nonce: secret(), codeVerifier: secret() };
}

export type Finished =
  | { kind: 'vouched'; vouched: Vouched }
  /** The person, or the provider for them, said no. */
  | { kind: 'declined' }
  /** The answer does not hold; `reason` is ours, for the log. */
  | { kind: 'refused'; reason: string }
  /** No answer within the deadline, or none at all. */
  | { kind: 'unreachable' };

/** What a try of a client's settings showed. */
export type ClientFinding =
  /** The provider refuses another secret, and this one it takes. */
  | 'client_known'
  | 'client_refused'
  /** It knows the client, and not the address to which people are to be sent back. */
  | 'redirect_refused'
  /** It is there, and its answers do not tell a right secret from a wrong one. */
  | 'client_unproved'
  /** No provider of that name is at that address. */
  | 'issuer_unknown'
  | 'unreachable';

/** A service with whose account people sign in. Every step has one deadline, and shares nothing with other providers. */
export interface Provider {
  id: 'google' | 'github' | 'oidc';
  name: string;
  /** Where the browser is sent. */
  begin(secrets: FlowSecrets): Promise<{ kind: 'redirect'; location: string } | Exclude<Finished, { kind: 'vouched' }>>;
  /** `answer`: what the provider added to the address that it sent the browser back to. */
  finish(answer: URLSearchParams, secrets: FlowSecrets): Promise<Finished>;
  /** Tries the client's settings without a person. */
  examine(): Promise<ClientFinding>;
}

/** All of a step's requests together. A person waits for it. */
export const stepDeadlineMs = 5_000;
/** Descriptions, keys and tokens have a few kilobytes. */
const maxAnswerBytes = 512 * 1_024;
const maxSubjectLength = 255;

/** A subject as the standard has it, or null: `0`, `{}` and the like are nobody. */
export function subjectIn(value: unknown): string | null {
  // A lone surrogate or a NUL is no text that the database keeps as it is.
  const isText = typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
  return isText && value.length >= 1 && value.length <= maxSubjectLength ? value : null;
}

/**
 * The address in a set of claims, if the same claims say that it was confirmed: `true`, not a text that reads so, and under
 * this name alone (section 5.1).
 */
export function confirmedAddress(claims: Readonly<Record<string, unknown>>): string | null {
  const { email, email_verified: isConfirmed } = claims;
  return isConfirmed === true && typeof email === 'string' ? personAddress(email) : null;
}

/** A name that may be shown, or null. */
export function nameIn(value: unknown): string | null {
  const name = typeof value === 'string' ? value.trim() : '';
  return name !== '' && textProblem(name, 100) === null ? name : null;
}

/** `fetch` whose answers are bounded; it is called with a signal that ends it. */
export async function boundedFetch(
  url: string,
  asked: Pick<RequestInit, 'method' | 'redirect'> & {
    headers: Record<string, string>;
    body?: unknown;
    signal?: AbortSignal | undefined;
  },
): Promise<Response> {
  const { method, redirect, headers: sent, signal } = asked;
  const content = asked.body as RequestInit['body'];
  const answer = await fetch(url, {
    ...(method === undefined ? {} : { method }),
    ...(redirect === undefined ? {} : { redirect }),
    headers: sent,
    body: content ?? null,
    signal: signal ?? null,
  });
  const { status, headers, body } = answer;
  const parts: Uint8Array[] = [];
  let length = 0;
  if (body !== null) {
    for await (const part of body) {
      length += part.byteLength;
      // Leaving the loop closes the connection.
      if (length > maxAnswerBytes) throw new TooLongError();
      parts.push(part);
    }
  }
  const bytes = Buffer.concat(parts);
  return new Response(bytes.length === 0 || status === 204 || status === 304 ? null : bytes, { status, headers });
}

class TooLongError extends Error {
  readonly code = 'ANSWER_TOO_LONG';
}

/** Runs the requests of a step under one deadline, and turns what goes wrong into an outcome. */
export async function underDeadline<T extends { kind: string }>(
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T | { kind: 'refused'; reason: string } | { kind: 'unreachable' }> {
  const signal = AbortSignal.timeout(stepDeadlineMs);
  try {
    return await step(signal);
  } catch (error) {
    if (signal.aborted || isNetworkError(error)) return { kind: 'unreachable' };
    // The libraries' codes are a closed set; their messages can quote the provider.
    return { kind: 'refused', reason: codeOf(error) };
  }
}

/** Undici says `fetch failed`, with the cause beneath. */
function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError && error.cause instanceof Error && !('code' in error && isOauthCode(error.code));
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return isOauthCode(code) || code === 'ANSWER_TOO_LONG' ? String(code) : 'INVALID_ANSWER';
}

function isOauthCode(code: unknown): boolean {
  return typeof code === 'string' && /^(?:OAUTH|ERR)_[A-Z_]{1,60}$/.test(code);
}

/** The answer of the authorization endpoint, or null where it is a refusal. Throws where it belongs to another flow. */
export function validated(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  answer: URLSearchParams,
  state: string,
): URLSearchParams | null {
  try {
    return oauth.validateAuthResponse(server, client, answer, state);
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) return null;
    throw error;
  }
}
