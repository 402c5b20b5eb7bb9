/** Signing in with an account elsewhere: Google, GitHub, or any OpenID provider. */

import { z } from 'zod';
import type { MailLog } from '../../runtime/mail.ts';
import { createSeal } from '../../shared/seal.ts';
import { type Caller, cookieValue } from '../caller.ts';
import type { IdentityParts } from '../identity.ts';
import { linkIdentityMail, localeOf } from '../mails.ts';
import { type AttemptRefusal, type BadToken, type Done, done, throttled, type Wrong } from '../outcomes.ts';
import type { UserPrincipal } from '../principal.ts';
import { cookieNames } from './auth.ts';
import { createGithub } from './github.ts';
import { hostOf, type Identities, type IdentityView } from './identities.ts';
import { createOpenId } from './openid.ts';
import { createProof, type StaleSignIn } from './proof.ts';
import { createOpening, hostCookie } from './session-cookies.ts';
import type { SecondFactorAsked } from './sign-in.ts';
import { networkOf } from './throttle.ts';
import { type Finished, type FlowSecrets, newSecrets, type Provider } from './vouching.ts';

interface ClientSettings {
  clientId: string;
  clientSecret: string;
}

/** The providers that the operator set up. */
export interface ProviderSettings {
  google: ClientSettings | null;
  github: ClientSettings | null;
  /** `issuer`: its address, below which `/.well-known/openid-configuration` is. */
  oidc: (ClientSettings & { issuer: string; name: string }) | null;
}

export const noProviders: ProviderSettings = { google: null, github: null, oidc: null };

/** Where the browser is sent. */
export interface Redirect {
  kind: 'redirect';
  location: string;
  setCookies: string[];
}

export interface ProviderSignIn {
  providers: readonly { id: string; name: string }[];
  /** `next`: the page to open afterwards. */
  startWith(input: { provider: string; next: string }, caller: Caller): Promise<Redirect | AttemptRefusal>;
  /** The provider sent the browser back. `query` is what it added to the address. */
  finishWith(input: { provider: string; query: string }, caller: Caller): Promise<Redirect | AttemptRefusal>;
  /** Mails the person whose address the waiting account has a link that links it. The answer is the same without one. */
  requestIdentityLink(caller: Caller): Promise<Done | AttemptRefusal>;
  /** The link of that mail, in the browser that asked for it; it signs in. */
  linkIdentity(input: { token: string }, caller: Caller): Promise<Done | SecondFactorAsked | BadToken | AttemptRefusal>;
  listIdentities(me: UserPrincipal): Promise<(IdentityView & { name: string })[]>;
  /** Ends the person's other sessions. Null: there is no such one. */
  removeIdentity(
    me: UserPrincipal,
    input: { id: string; password: string },
    caller: Caller,
  ): Promise<Done | Wrong | StaleSignIn | AttemptRefusal | { kind: 'last_way' } | null>;
}

/** Addresses below which the flow takes place; providers are given `{publicUrl}/sign-in/with/callback/{provider}`. */
export const providerPath = '/sign-in/with';

/** Why a sign-in ended on the page of the sign-in again: a closed set, and no text of a provider. */
type Failure = 'provider' | 'unreachable' | 'declined' | 'unconfirmed';

const perNetwork = { attempts: 60, windowS: 60 };
const linksPerAddress = { attempts: 5, windowS: 3_600 };
/** As long as a person may take at the provider. */
const flowS = 600;

const flowShape = z.object({
  provider: z.string(),
  next: z.string(),
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  untilMs: z.number(),
});
type Flow = z.infer<typeof flowShape> & FlowSecrets;

type Arrive = (userId: string, caller: Caller, setCookies: string[]) => Promise<Done>;

type ProviderParts = IdentityParts & {
  /** Asked at each use. */
  settings: () => ProviderSettings;
  /** Whether providers without TLS are asked: for tests and first steps. */
  allowHttp: boolean;
  passwordSignIn: boolean;
  secretKey: Buffer;
  identities: Identities;
  arrive: Arrive;
  log: MailLog;
};

export function createProviderSignIn(parts: ProviderParts): ProviderSignIn {
  const { prisma, throttle, publicUrl, identities, arrive, log } = parts;
  let made: { key: string; providers: Provider[] } | null = null;
  /** Those of the settings in force; made anew only when they changed, because each keeps what it learnt of its issuer. */
  const providersNow = (): readonly Provider[] => {
    const settings = parts.settings();
    const key = JSON.stringify(settings);
    if (made?.key !== key) made = { key, providers: createProviders({ ...parts, settings }) };
    return made.providers;
  };
  const open = createOpening(parts);
  const flows = createFlows(parts);

  const mayTry = async (caller: Caller): Promise<AttemptRefusal | null> => {
    const wait = await throttle.take(`provider:${networkOf(caller.ip)}`, perNetwork);
    return wait === null ? null : throttled(wait);
  };
  const failed = (failure: Failure): Redirect => ({
    kind: 'redirect',
    location: `${publicUrl}/sign-in?error=${failure}`,
    setCookies: [flows.forget()],
  });
  /** A refusal is shown without its reason, which is for the operator. */
  const ended = (outcome: Exclude<Finished, { kind: 'vouched' }>, provider: string): Redirect => {
    if (outcome.kind !== 'declined') {
      const code = outcome.kind === 'refused' ? outcome.reason : 'UNREACHABLE';
      log.error({ kind: provider, code }, 'a sign-in with a provider failed');
    }
    return failed(outcome.kind === 'refused' ? 'provider' : outcome.kind);
  };

  /** The proof is given: a session, or the challenge of a one-time code. */
  const enter = async (userId: string, caller: Caller): Promise<Done | SecondFactorAsked> => {
    const person = await prisma.user.findUniqueOrThrow({
      where: { id: userId },
      select: { id: true, twoFactorEnabled: true },
    });
    const opened = await open(person, caller);
    if (opened.kind === 'challenge') return { kind: 'second_factor', setCookies: opened.setCookies };
    return arrive(userId, caller, opened.setCookies);
  };

  return {
    get providers() {
      return providersNow().map(({ id, name }) => ({ id, name }));
    },

    async startWith(input, caller) {
      const provider = providersNow().find(({ id }) => id === input.provider);
      if (provider === undefined) return failed('provider');
      const refusal = await mayTry(caller);
      if (refusal !== null) return refusal;
      const secrets = newSecrets();
      const begun = await provider.begin(secrets);
      if (begun.kind !== 'redirect') return ended(begun, provider.id);
      return { ...begun, setCookies: [flows.keep({ ...secrets, provider: provider.id, next: input.next })] };
    },

    async finishWith(input, caller) {
      const refusal = await mayTry(caller);
      if (refusal !== null) return refusal;
      const flow = flows.read(caller);
      const provider = providersNow().find(({ id }) => id === input.provider);
      if (flow === null || provider === undefined || flow.provider !== provider.id) return failed('provider');
      const finished = await provider.finish(new URLSearchParams(input.query), flow);
      if (finished.kind !== 'vouched') return ended(finished, provider.id);
      const settled = await identities.settle(provider.id, finished.vouched);
      if (settled.kind === 'unconfirmed') return failed('unconfirmed');
      const next = encodeURIComponent(flow.next);
      if (settled.kind === 'waiting') {
        return {
          kind: 'redirect',
          location: `${publicUrl}/sign-in?link=${provider.id}&next=${next}`,
          setCookies: [flows.forget(), identities.keepWaiting(settled.waiting)],
        };
      }
      const entered = await enter(settled.userId, caller);
      const location = entered.kind === 'done' ? flow.next : `/sign-in?code=1&next=${next}`;
      return {
        kind: 'redirect',
        location: `${publicUrl}${location}`,
        setCookies: [flows.forget(), ...entered.setCookies],
      };
    },

    ...createLinking({ ...parts, mayTry, enter }),
  };
}

/** Proving by mail that an account elsewhere is one's own, and ending what was linked. */
function createLinking(
  parts: ProviderParts & {
    mayTry: (caller: Caller) => Promise<AttemptRefusal | null>;
    enter: (userId: string, caller: Caller) => Promise<Done | SecondFactorAsked>;
  },
): Pick<ProviderSignIn, 'requestIdentityLink' | 'linkIdentity' | 'listIdentities' | 'removeIdentity'> {
  const { prisma, throttle, mailer, publicUrl, identities, mayTry, enter } = parts;
  const { passwordOrFreshSignIn } = createProof(parts);
  return {
    async requestIdentityLink(caller) {
      const refusal = await mayTry(caller);
      const waiting = identities.waitingIn(caller);
      if (refusal !== null || waiting === null) return refusal ?? done();
      const person = await prisma.user.findUnique({
        where: { id: waiting.userId },
        select: { email: true, locale: true },
      });
      if (person === null) return done();
      const wait = await throttle.take(`mail:${person.email}`, linksPerAddress);
      if (wait !== null) return throttled(wait);
      const link = `${publicUrl}/link-identity?token=${encodeURIComponent(identities.mailToken(waiting))}`;
      mailer.post(linkIdentityMail(person.email, localeOf(person.locale), hostOf(waiting.issuer), link));
      return done();
    },

    async linkIdentity({ token }, caller) {
      const refusal = await mayTry(caller);
      if (refusal !== null) return refusal;
      const waiting = identities.provedByMail(token, caller);
      // A link works once: it signs in.
      const used = waiting === null || (await throttle.take(`identity-link:${waiting.id}`, oneUse)) !== null;
      if (waiting === null || used) return { kind: 'bad_token' };
      await identities.link(waiting);
      const entered = await enter(waiting.userId, caller);
      return { ...entered, setCookies: [...entered.setCookies, identities.forgetWaiting()] };
    },

    async listIdentities(me) {
      const listed = await identities.list(me);
      return listed.map((identity) => ({ ...identity, name: hostOf(identity.issuer) }));
    },

    async removeIdentity(me, { id, password }, caller) {
      const listed = await identities.list(me);
      if (!listed.some((identity) => identity.id === id)) return null;
      const refusal = await passwordOrFreshSignIn(me, password, caller);
      if (refusal !== null) return refusal;
      // With passwords, a mail leads back in.
      if (!parts.passwordSignIn && listed.length === 1) return { kind: 'last_way' };
      return (await identities.remove(me, id)) ? done() : null;
    },
  };
}

const oneUse = { attempts: 1, windowS: 3_600 };

export function createProviders({
  settings,
  publicUrl,
  allowHttp,
}: {
  settings: ProviderSettings;
  publicUrl: string;
  allowHttp: boolean;
}): Provider[] {
  const { google, github, oidc } = settings;
  const redirectUri = (id: string): string => `${publicUrl}${providerPath}/callback/${id}`;
  // https://developers.google.com/identity/openid-connect/openid-connect#discovery
  const issuer = 'https://accounts.google.com';
  return [
    ...(google === null
      ? []
      : [
          createOpenId({
            ...google,
            id: 'google',
            name: 'Google',
            issuer,
            redirectUri: redirectUri('google'),
            allowHttp: false,
          }),
        ]),
    ...(github === null ? [] : [createGithub({ ...github, redirectUri: redirectUri('github') })]),
    ...(oidc === null ? [] : [createOpenId({ ...oidc, id: 'oidc', redirectUri: redirectUri('oidc'), allowHttp })]),
  ];
}

/** What a browser keeps while its person is at the provider: sealed, for this browser alone, and gone afterwards. */
function createFlows({ publicUrl, secretKey }: { publicUrl: string; secretKey: Buffer }) {
  const seal = createSeal({ secretKeys: [secretKey] });
  const place = { table: 'cookie', rowId: 'provider flow', column: 'value' };
  const { provider: name } = cookieNames(publicUrl);
  return {
    keep(flow: Omit<Flow, 'untilMs'>): string {
      const text = JSON.stringify({ ...flow, untilMs: Date.now() + flowS * 1_000 });
      return hostCookie(publicUrl, name, seal.seal(place, text).toString('base64url'), flowS);
    },
    read(caller: Caller): Flow | null {
      const text = cookieValue(caller.cookie, name) ?? '';
      const json = text.length > 4_096 ? null : seal.unseal(place, Buffer.from(text, 'base64url'));
      const flow = json === null ? null : flowShape.parse(JSON.parse(json));
      return flow !== null && flow.untilMs > Date.now() ? flow : null;
    },
    forget: (): string => hostCookie(publicUrl, name, '', 0),
  };
}
