/** better-auth, configured for the service: sessions, links of mails, cookies. */

import { hkdfSync } from 'node:crypto';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { twoFactor } from 'better-auth/plugins';
import type { PrismaClient } from '../../database/generated/prisma/client.ts';
import { maxPasswordBytes, minPasswordLength, type Passwords } from './passwords.ts';
import { hashedSessionAdapter } from './session-tokens.ts';

/** A session ends after this long without use. */
export const idleS = 24 * 3_600;
/** The absolute lifetime of a session. */
export const absoluteS = 30 * 24 * 3_600;
/** A session in use is prolonged when the last prolongation is this long ago. */
export const prolongAfterS = 900;
/** Lifetime of a mail's link. */
const linkS = 3_600;
const verificationLinkS = 24 * 3_600;

/** A person as better-auth passes them to the mail callbacks. */
export interface MailedUser {
  id: string;
  email: string;
  name: string;
}

/** The mails that better-auth triggers. */
export interface AuthMails {
  verification(user: MailedUser, token: string): Promise<void>;
  passwordReset(user: MailedUser, token: string): Promise<void>;
  emailChange(user: MailedUser, newEmail: string, token: string): Promise<void>;
}

/** The names of the cookies: browsers accept the prefix `__Host-` only over https, for this host alone. */
export function cookieNames(publicUrl: string) {
  const prefix = publicUrl.startsWith('https://') ? '__Host-' : 'steyg-';
  return {
    session: `${prefix}sid`,
    secondFactor: `${prefix}2fa`,
    device: `${prefix}device`,
    passkey: `${prefix}passkey`,
    /** A flow at a provider. */
    provider: `${prefix}provider`,
    /** An account elsewhere that waits for its person's proof. */
    link: `${prefix}link`,
  };
}

/** What every instance of better-auth has in common: one table of sessions, one form of cookie, one secret. */
export function sharedOptions({
  prisma,
  publicUrl,
  secretKey,
}: {
  prisma: PrismaClient;
  publicUrl: string;
  /** 32 bytes; cookies and mail tokens are signed with keys derived from it. */
  secretKey: Buffer;
}) {
  const names = cookieNames(publicUrl);
  const attributes = { httpOnly: true, sameSite: 'lax', path: '/', secure: publicUrl.startsWith('https://') } as const;
  return {
    appName: 'Steyg',
    baseURL: publicUrl,
    secret: signInSecret(secretKey),
    database: hashedSessionAdapter(prisma, { provider: 'postgresql', transaction: true }),
    logger: { disabled: true },
    telemetry: { enabled: false },
    // Attempts are counted by `throttle.ts`, per person and network and across processes.
    rateLimit: { enabled: false },
    user: {
      additionalFields: {
        operator: { type: 'boolean', input: false, defaultValue: false },
        locale: { type: 'string', required: false, defaultValue: 'en' },
      },
    },
    account: { modelName: 'credential' },
    verification: { storeIdentifier: 'hashed' },
    // How fresh a sign-in must be is decided by `proof.ts`.
    session: { expiresIn: idleS, updateAge: prolongAfterS, freshAge: 0, cookieCache: { enabled: false } },
    advanced: {
      database: { generateId: false },
      useSecureCookies: false,
      defaultCookieAttributes: attributes,
      cookies: {
        session_token: { name: names.session, attributes },
        two_factor: { name: names.secondFactor, attributes },
      },
      ipAddress: { ipAddressHeaders: ['x-forwarded-for'] },
    },
  } as const satisfies Partial<BetterAuthOptions>;
}

/**
 * better-auth as the service uses it: through its server API only (its own routes are not mounted), with session tokens
 * digested in the database, argon2id passwords and no account without a confirmed address.
 */
export function createAuth(options: {
  prisma: PrismaClient;
  publicUrl: string;
  /** 32 bytes; cookies and mail tokens are signed with keys derived from it. */
  secretKey: Buffer;
  passwords: Passwords;
  mails: AuthMails;
  /** The link of a mail was used to choose a new password. */
  onPasswordReset: (user: MailedUser) => Promise<void>;
}) {
  const { prisma, publicUrl, secretKey, passwords, mails, onPasswordReset } = options;
  const shared = sharedOptions({ prisma, publicUrl, secretKey });
  return betterAuth({
    ...shared,
    basePath: '/auth-is-not-mounted',
    user: {
      ...shared.user,
      changeEmail: {
        enabled: true,
        sendChangeEmailConfirmation: ({ user, newEmail, token }) => mails.emailChange(user, newEmail, token),
      },
    },
    emailAndPassword: {
      enabled: true,
      autoSignIn: false,
      requireEmailVerification: true,
      minPasswordLength: minPasswordLength,
      maxPasswordLength: maxPasswordBytes,
      password: passwords,
      resetPasswordTokenExpiresIn: linkS,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) => mails.passwordReset(user, token),
      onPasswordReset: ({ user }) => onPasswordReset(user),
    },
    emailVerification: {
      // Sent by `sign-up.ts` once the sign-up is stored: the link depends on the password.
      sendOnSignUp: false,
      autoSignInAfterVerification: false,
      expiresIn: verificationLinkS,
      sendVerificationEmail: ({ user, token }) => mails.verification(user, token),
    },
    // People who sign in with a provider alone have no password that could be asked for.
    plugins: [twoFactor({ issuer: 'Steyg', accountLockout: { enabled: false }, allowPasswordless: true })],
  });
}

export type Auth = ReturnType<typeof createAuth>;

/** The secret with which better-auth signs cookies and encrypts the secrets of one-time codes. */
export function signInSecret(secretKey: Buffer): string {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'steyg sign-in', 32)).toString('base64url');
}
