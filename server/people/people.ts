import type { Pool } from 'pg';
import type { PrismaClient } from '../database/generated/prisma/client.ts';
import { createKeys } from '../keys/keys.ts';
import type { Mailer, MailLog } from '../runtime/mail.ts';
import { type AccessTokens, createAccessTokens } from './access-tokens.ts';
import { createIdentify, type Identify } from './identify.ts';
import type { IdentityParts } from './identity.ts';
import { createMachineLogins, type MachineLogins } from './machine-logins.ts';
import { emailChangeMail, localeOf, passwordResetMail, securityMail } from './mails.ts';
import { createMembers, type Members } from './members.ts';
import { createSetOperator } from './operators.ts';
import { createSettings, type Settings } from './settings.ts';
import { createAuth } from './sign-in/auth.ts';
import { createDevices } from './sign-in/device.ts';
import { createIdentities } from './sign-in/identities.ts';
import { createPasskeys, type Passkeys } from './sign-in/passkeys.ts';
import { createPasswords, type Passwords } from './sign-in/passwords.ts';
import { createProviderSignIn, noProviders, type ProviderSettings, type ProviderSignIn } from './sign-in/providers.ts';
import { createArrival, createSignIn, type NewSignIn, type SignIn } from './sign-in/sign-in.ts';
import { createBindings, createSignUp, createVerificationMails, type SignUp } from './sign-in/sign-up.ts';
import { createThrottle } from './sign-in/throttle.ts';
import { createOpenAccount } from './sign-in/trials.ts';
import { createViews, type Views } from './views.ts';

/** The identity domain: people and programs, how they authenticate, their settings. */
export interface People extends SignUp, SignIn, ProviderSignIn, Passkeys {
  /** False: people sign in with providers alone. */
  passwordSignIn: boolean;
  identify: Identify;
  settings: Settings;
  members: Members;
  accessTokens: AccessTokens;
  machineLogins: MachineLogins;
  views: Views;
  setOperator: ReturnType<typeof createSetOperator>;
  /** Drops expired counters, sessions, links and codes of machines. */
  sweep(): Promise<void>;
}

export function createPeople(options: {
  prisma: PrismaClient;
  /** For counters and single-statement writes; connections apart from the money lane's. */
  pool: Pool;
  mailer: Mailer;
  publicUrl: string;
  /** 32 bytes; all signing keys are derived from it. */
  secretKey: Buffer;
  log: MailLog;
  /** Somebody signed in from a browser that the person had not used before. */
  onNewSignIn?: (signIn: NewSignIn) => Promise<void>;
  passwords?: Passwords;
  /** Asked at each use: operators change them while the service runs. */
  providers?: () => ProviderSettings;
  /** Whether an OpenID provider without TLS is asked; never in production. */
  allowHttpProviders?: boolean;
  passwordSignIn?: boolean;
}): People {
  const { prisma, pool, mailer, publicUrl, secretKey, log } = options;
  const passwordSignIn = options.passwordSignIn ?? true;
  const passwords = options.passwords ?? createPasswords();
  const throttle = createThrottle({ pool });
  const openAccount = createOpenAccount({ pool });
  const bindings = createBindings({ secretKey });
  const link = (path: string, token: string) => `${publicUrl}/${path}?token=${encodeURIComponent(token)}`;

  const localeOfUser = async (id: string) =>
    localeOf((await prisma.user.findUnique({ where: { id }, select: { locale: true } }))?.locale);

  const auth = createAuth({
    prisma,
    publicUrl,
    secretKey,
    passwords,
    mails: {
      verification: createVerificationMails({ prisma, mailer, publicUrl, bindings }),
      passwordReset: async (user, token) =>
        mailer.post(passwordResetMail(user.email, await localeOfUser(user.id), link('reset-password', token))),
      emailChange: async (user, newEmail, token) => {
        const bound = link('verify-email', bindings.bind(token, ''));
        mailer.post(emailChangeMail(user.email, await localeOfUser(user.id), newEmail, bound));
      },
    },
    // Access to the mailbox proves the address, like the link of the sign-up. The account and its trial are opened by
    // the sign-in that follows, where the network is known.
    onPasswordReset: async (user) => {
      await prisma.user.updateMany({ where: { id: user.id, emailVerified: false }, data: { emailVerified: true } });
      // A passkey or account elsewhere that a thief added must not outlive the recovery. Sessions end first: none is left to
      // add another.
      const [, passkeys, linked] = await prisma.$transaction([
        prisma.session.deleteMany({ where: { userId: user.id } }),
        prisma.passkey.deleteMany({ where: { userId: user.id } }),
        prisma.identity.deleteMany({ where: { userId: user.id } }),
        // Of the previous version, which would let them in there.
        prisma.credential.deleteMany({ where: { userId: user.id, password: null } }),
      ]);
      const security = `${publicUrl}/security`;
      if (passkeys.count + linked.count > 0)
        mailer.post(securityMail(user.email, await localeOfUser(user.id), 'ways_removed_by_reset', security));
      await throttle.forget(`sign-in:${user.email}`);
    },
  });

  const parts: IdentityParts = {
    prisma,
    pool,
    auth,
    throttle,
    passwords,
    devices: createDevices({ secretKey }),
    mailer,
    publicUrl,
    openAccount,
  };
  const identities = createIdentities({ pool, mailer, publicUrl, secretKey });
  const arrival = createArrival({
    ...parts,
    linkWaiting: identities.linkWaiting,
    onNewSignIn: options.onNewSignIn ?? (async () => undefined),
  });
  const accessTokens = createAccessTokens({ pool });
  const views = createViews({ pool, secretKey });
  const machineLogins = createMachineLogins({
    pool,
    throttle,
    mailer,
    keys: createKeys({ pool }),
    secretKey,
    publicUrl,
  });
  const providerSignIn = createProviderSignIn({
    ...parts,
    secretKey,
    settings: options.providers ?? (() => noProviders),
    allowHttp: options.allowHttpProviders ?? false,
    passwordSignIn,
    identities,
    log,
    arrive: arrival.arrive,
  });
  return {
    ...createSignUp({ ...parts, bindings, log }),
    ...createSignIn({ ...parts, ...arrival }),
    ...providerSignIn,
    get providers() {
      return providerSignIn.providers;
    },
    ...createPasskeys({ ...parts, secretKey, passwordSignIn, arrive: arrival.arrive }),
    passwordSignIn,
    identify: createIdentify({ pool, auth, publicUrl, accessTokens, views }),
    settings: createSettings(parts),
    members: createMembers({ pool, mailer, throttle, publicUrl }),
    accessTokens,
    machineLogins,
    views,
    setOperator: createSetOperator({ pool }),
    async sweep() {
      await throttle.sweep();
      await machineLogins.sweep();
      const now = new Date();
      await prisma.session.deleteMany({ where: { expiresAt: { lt: now } } });
      await prisma.verification.deleteMany({ where: { expiresAt: { lt: now } } });
    },
  };
}
