/**
 * The principals of the control plane and their abilities. Three kinds and no others: a person with a session, a
 * program with an access token, or an anonymous client. Keys of the model endpoints are none of these.
 */

/** A person's role in an account, from most to least powerful. */
export const roles = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** What an access token may be used for. */
export const scopes = ['read', 'keys', 'billing', 'operator'] as const;
export type TokenScope = (typeof scopes)[number];

/**
 * What an operator is trusted with, from most to least: everything, money and papers, or to see and explain. What each
 * may do and see stands in `graphql/guard/operator-roles.ts`.
 */
export const operatorRoles = ['owner', 'finance', 'support'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** An operator's role in SQL, of the person with that alias; NULL: no operator. `operator` means an owner. */
export const operatorRoleSql = (user: string): string =>
  `CASE WHEN ${user}.operator THEN 'owner' ELSE ${user}.operator_role END`;

/** Abilities on an account: view it, manage its keys, spend its owner's money, manage its members. */
export type Ability = 'read' | 'keys' | 'billing' | 'members';

export interface UserPrincipal {
  kind: 'user';
  userId: string;
  sessionId: string;
  email: string;
  name: string;
  locale: string;
  emailVerified: boolean;
  /** Null: no operator. */
  operatorRole: OperatorRole | null;
  /** Signed in with a one-time code as well, which every sign-in needs once the user has set it up. */
  secondFactor: boolean;
  /** Signed in with a passkey, for which the device verified its user. */
  passkey: boolean;
  /** Accounts the person belongs to, oldest membership first. */
  memberships: ReadonlyMap<string, Role>;
  /** Those of them that an operator has suspended. */
  suspended: ReadonlySet<string>;
  /** An operator who looks at the pages of a customer until then; nothing can be changed. Absent: no look. */
  viewUntil?: Date;
}

export interface TokenPrincipal {
  kind: 'token';
  tokenId: string;
  accountId: string;
  scopes: ReadonlySet<TokenScope>;
  /** That of who made it, if it has the scope `operator`; those of the command line may do everything. */
  operatorRole: OperatorRole | null;
  /** Its account, if an operator has suspended it. */
  suspended: ReadonlySet<string>;
}

export interface NobodyPrincipal {
  kind: 'nobody';
}

export type ControlPrincipal = UserPrincipal | TokenPrincipal | NobodyPrincipal;

export const nobody: NobodyPrincipal = { kind: 'nobody' };

const roleAbilities: Readonly<Record<Role, readonly Ability[]>> = {
  owner: ['read', 'keys', 'billing', 'members'],
  admin: ['read', 'keys', 'billing', 'members'],
  member: ['read', 'keys'],
  viewer: ['read'],
};

/** The roles that have an ability. */
export function rolesWith(ability: Ability): Role[] {
  return roles.filter((role) => roleAbilities[role].includes(ability));
}

/** A token that may change an object may also read it. No scope lets a program manage an account's members. */
const scopeAbilities: Readonly<Record<TokenScope, readonly Ability[]>> = {
  read: ['read'],
  keys: ['read', 'keys'],
  billing: ['read', 'billing'],
  operator: [],
};

/** The scopes that a person with this role could give to a token of the account. */
export function scopesOf(role: Role): TokenScope[] {
  return scopes.filter(
    (scope) => scope !== 'operator' && scopeAbilities[scope].every((ability) => roleAbilities[role].includes(ability)),
  );
}

/**
 * The abilities of a principal on an account. Empty for an account that is not theirs. A suspended account can only be
 * viewed: its members see what they paid for, but cannot buy or create anything.
 */
export function abilitiesOn(principal: ControlPrincipal, accountId: string): ReadonlySet<Ability> {
  const abilities = givenAbilities(principal, accountId);
  if (!isSuspended(principal, accountId)) return abilities;
  return new Set(abilities.has('read') ? ['read' as const] : []);
}

/** Whether an account of the principal is suspended. */
export function isSuspended(principal: ControlPrincipal, accountId: string): boolean {
  return principal.kind !== 'nobody' && principal.suspended.has(accountId);
}

function givenAbilities(principal: ControlPrincipal, accountId: string): ReadonlySet<Ability> {
  if (principal.kind === 'user') {
    const role = principal.memberships.get(accountId);
    return new Set(role === undefined ? [] : roleAbilities[role]);
  }
  if (principal.kind === 'nobody' || principal.accountId !== accountId) return new Set();
  return new Set([...principal.scopes].flatMap((scope) => scopeAbilities[scope]));
}

/** The accounts on which the principal has an ability. Queries are narrowed to these before anything is read. */
export function accountsWith(principal: ControlPrincipal, ability: Ability): string[] {
  if (principal.kind === 'nobody') return [];
  const accountIds = principal.kind === 'user' ? [...principal.memberships.keys()] : [principal.accountId];
  return accountIds.filter((id) => abilitiesOn(principal, id).has(ability));
}

/** An operator, by session or token. */
export function isOperator(principal: ControlPrincipal): boolean {
  return operatorRoleOf(principal) !== null;
}

/** The role of an operator; null: no operator. */
export function operatorRoleOf(principal: ControlPrincipal): OperatorRole | null {
  return principal.kind === 'nobody' ? null : principal.operatorRole;
}

/** A session with two factors: a one-time code besides, or a passkey, which takes the device and its user's finger or PIN. */
export function hasTwoFactors(principal: UserPrincipal): boolean {
  return principal.secondFactor || principal.passkey;
}

/**
 * An operator who may move money or prices: in the browser only with two factors; a token carries the scope
 * instead, because a program has no phone.
 */
export function isTrustedOperator(principal: ControlPrincipal): boolean {
  return isOperator(principal) && (principal.kind !== 'user' || hasTwoFactors(principal));
}

/** How the audit log names a principal. */
export function actorOf(principal: ControlPrincipal): string {
  if (principal.kind === 'nobody') return 'nobody';
  return principal.kind === 'user' ? `user:${principal.userId}` : `token:${principal.tokenId}`;
}

/** Whether two identifications found the same subject with the same rights. */
export function isSamePrincipal(one: ControlPrincipal, other: ControlPrincipal): boolean {
  const text = (principal: ControlPrincipal) =>
    JSON.stringify(principal, (_name, value: unknown) =>
      value instanceof Map || value instanceof Set ? [...value] : value,
    );
  return text(one) === text(other);
}
