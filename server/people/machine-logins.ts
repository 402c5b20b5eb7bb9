import { createHash, createHmac, hkdfSync, randomBytes, randomInt } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import type { SpendLimits } from '../core/spend-limits.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { type CreateKeyOutcome, createKey, type DeleteKeyOutcome, type Keys } from '../keys/keys.ts';
import { parseKey } from '../keys/secret.ts';
import type { Mailer } from '../runtime/mail.ts';
import { textProblem } from '../shared/plain-text.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { localeOf, machineMail } from './mails.ts';
import { type Throttled, throttled } from './outcomes.ts';
import { type Role, rolesWith, type UserPrincipal } from './principal.ts';
import { networkOf, type Throttle } from './sign-in/throttle.ts';

/**
 * Signing machines in (RFC 8628): a machine asks and shows a short code, a person compares it on a page and says what the
 * machine's key may do, and the machine fetches the key, which is made at that moment and shown that once.
 *
 * Not better-auth's plugin (1.7.25, dist/plugins/device-authorization/routes.mjs): it answers with a whole session of the person,
 * keeps both codes in clear, claims a code for whoever's browser loads its address (GET), lets an approval overwrite a denial
 * that came between its two statements, and never lengthens the interval of a machine that asks too often.
 */
export interface MachineLogins {
  /** Begins one. `machine`: what it calls itself; a text that no page may show is replaced. */
  begin(ask: { machine: string; ip: string }): Promise<NewMachineLogin | Throttled>;
  /** What waits under the code that the person types; null: nothing. */
  find(me: UserPrincipal, ask: { code: string; ip: string }): Promise<MachineLogin | null | Throttled>;
  /** Allows the machine a key of these terms. Refused like the creation of the key itself, which is tried and undone. */
  approve(me: UserPrincipal, ask: MachineApproval): Promise<ApproveOutcome>;
  /** False: nothing waits under the code. */
  deny(me: UserPrincipal, code: string): Promise<boolean | Throttled>;
  /** The machine's question: the key, once, or what to do instead. */
  fetchKey(deviceCode: string): Promise<FetchOutcome>;
  /** Ends a personal key on the machine's own request. A key of the account is shared, and ends on the page of keys. */
  endKey(secret: string): Promise<'ended' | 'unknown' | 'shared'>;
  /** Drops those that nobody decided or fetched in time. */
  sweep(): Promise<void>;
}

export interface NewMachineLogin {
  kind: 'begun';
  /** Opens the key, once. Only its digest is kept. */
  deviceCode: string;
  /** `XXXX-XXXX`, for people. */
  userCode: string;
  expiresInS: number;
  intervalS: number;
}

export interface MachineLogin {
  machine: string;
  ipAddress: string;
  /** Whether the machine asks from the network of the person. */
  sameNetwork: boolean;
  askedAt: Date;
  expiresAt: Date;
}

export interface MachineApproval {
  code: string;
  accountId: string;
  projectId: string | null;
  name: string;
  limits: SpendLimits;
}

export type ApproveOutcome =
  | { kind: 'approved' }
  | { kind: 'unknown_code' }
  | Throttled
  | Exclude<CreateKeyOutcome, { kind: 'created' }>;

export type FetchOutcome =
  | { kind: 'key'; secret: string; name: string; accountId: string }
  | { kind: 'pending' | 'denied' | 'expired' | 'unknown' | 'refused' }
  /** Asked again before the interval was over, which is longer from now on. */
  | { kind: 'slow_down'; intervalS: number };

/** Long enough to find a phone and sign in. */
const lifetimeS = 600;
/** RFC 8628, section 3.5: without a word of the server machines wait 5 s; a question here is one row by its key. */
const intervalS = 2;
const longerByS = 5;
const maxIntervalS = 60;
/** RFC 8628, section 6.1: no vowels, so no words, and nothing that looks alike. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';
const codeLength = 8;
/** 34 bits against these many guesses in the lifetime of a code (RFC 8628, section 5.1). */
const guesses = { attempts: 30, windowS: lifetimeS };
/** Of one network, which may be an office. */
const beginnings = { attempts: 30, windowS: lifetimeS };
const maxMachineCharacters = 100;
const unnamed = 'unnamed machine';

interface LoginRow {
  id: string;
  machine: string;
  ipAddress: string;
  over: boolean;
  hasty: boolean;
  intervalS: number;
  decision: string | null;
  userId: string | null;
  accountId: string | null;
  projectId: string | null;
  keyName: string | null;
  limitDay: bigint | null;
  limitWeek: bigint | null;
  limitMonth: bigint | null;
  limitLifetime: bigint | null;
  email: string | null;
  locale: string | null;
}

export function createMachineLogins(parts: {
  pool: Pool;
  throttle: Pick<Throttle, 'take'>;
  mailer: Pick<Mailer, 'post'>;
  keys: Pick<Keys, 'delete'>;
  secretKey: Buffer;
  publicUrl: string;
}): MachineLogins {
  const { pool, throttle, mailer, keys, publicUrl } = parts;
  const codeKey = Buffer.from(hkdfSync('sha256', parts.secretKey, '', 'steyg machine code', 32));
  const codeHash = (code: string): Buffer => createHmac('sha256', codeKey).update(normalCode(code)).digest();
  const guess = async ({ userId }: UserPrincipal): Promise<Throttled | null> => {
    const wait = await throttle.take(`machine-code:${userId}`, guesses);
    return wait === null ? null : throttled(wait);
  };

  return {
    async begin({ machine, ip }) {
      const wait = await throttle.take(`machine-login:${networkOf(ip)}`, beginnings);
      if (wait !== null) return throttled(wait);
      const deviceCode = randomBytes(32).toString('base64url');
      const userCode = Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join('');
      await pool.query(
        `INSERT INTO machine_login (id, device_hash, user_code_hash, machine, ip_address, expires_at, interval_seconds)
         VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6), $7)`,
        [uuidv7(), digest(deviceCode), codeHash(userCode), shownMachine(machine), ip, lifetimeS, intervalS],
      );
      return {
        kind: 'begun',
        deviceCode,
        userCode: `${userCode.slice(0, codeLength / 2)}-${userCode.slice(codeLength / 2)}`,
        expiresInS: lifetimeS,
        intervalS,
      };
    },

    async find(me, { code, ip }) {
      const refusal = await guess(me);
      if (refusal !== null) return refusal;
      const { rows } = await pool.query<Omit<MachineLogin, 'sameNetwork'>>(
        `SELECT machine, ip_address AS "ipAddress", created_at AS "askedAt", expires_at AS "expiresAt"
         FROM machine_login WHERE user_code_hash = $1 AND decision IS NULL AND expires_at > now()`,
        [codeHash(code)],
      );
      const [row] = rows;
      return row === undefined ? null : { ...row, sameNetwork: networkOf(row.ipAddress) === networkOf(ip) };
    },

    async approve(me, { code, accountId, projectId, name, limits }) {
      const refusal = await guess(me);
      if (refusal !== null) return refusal;
      return repeatedTransaction(pool, async (client): Promise<ApproveOutcome> => {
        const { rows } = await client.query<{ id: string }>(
          `SELECT id FROM machine_login WHERE user_code_hash = $1 AND decision IS NULL AND expires_at > now() FOR UPDATE`,
          [codeHash(code)],
        );
        const [row] = rows;
        if (row === undefined) return { kind: 'unknown_code' };
        // What would refuse the key is shown to the person, not to the machine.
        await client.query('SAVEPOINT attempt');
        const tried = await makeKey(client, { userId: me.userId, accountId, projectId, name, limits });
        await client.query('ROLLBACK TO SAVEPOINT attempt');
        if (tried.kind !== 'created') return tried;
        await client.query(
          `UPDATE machine_login SET decision = 'approved', user_id = $2, account_id = $3, project_id = $4, key_name = $5,
                                    limit_day = $6, limit_week = $7, limit_month = $8, limit_lifetime = $9 WHERE id = $1`,
          [row.id, me.userId, accountId, projectId, name, limits.day, limits.week, limits.month, limits.lifetime],
        );
        return { kind: 'approved' };
      });
    },

    async deny(me, code) {
      const refusal = await guess(me);
      if (refusal !== null) return refusal;
      const { rowCount } = await pool.query(
        `UPDATE machine_login SET decision = 'denied', user_id = $2
         WHERE user_code_hash = $1 AND decision IS NULL AND expires_at > now()`,
        [codeHash(code), me.userId],
      );
      return rowCount === 1;
    },

    async fetchKey(deviceCode) {
      if (!/^[\w-]{43}$/.test(deviceCode)) return { kind: 'unknown' };
      const { outcome, row } = await repeatedTransaction(pool, (client) => answerMachine(client, deviceCode));
      if (outcome.kind === 'key' && row?.email != null) {
        const { machine, ipAddress, email } = row;
        const facts = { machine, ipAddress, key: outcome.name };
        mailer.post(machineMail(email, localeOf(row.locale), facts, `${publicUrl}/keys`));
      }
      return outcome;
    },

    async endKey(secret) {
      const parsed = parseKey(secret);
      if (parsed === null) return 'unknown';
      const { rows } = await pool.query<{ id: string; accountId: string; personal: boolean; createdBy: string | null }>(
        `SELECT id, account_id AS "accountId", personal, created_by AS "createdBy" FROM api_key
         WHERE hash = $1 AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
        [parsed.hash],
      );
      const [key] = rows;
      if (key === undefined) return 'unknown';
      if (!key.personal) return 'shared';
      const { id, accountId } = key;
      const ended: DeleteKeyOutcome = await keys.delete({ id, accountId, actor: `key:${id}` });
      return ended.kind === 'deleted' ? 'ended' : 'unknown';
    },

    async sweep() {
      await pool.query('DELETE FROM machine_login WHERE expires_at <= now()');
    },
  };
}

/** Answers a machine's question under the lock of its row, so that a key is fetched once. */
async function answerMachine(
  client: ClientBase,
  deviceCode: string,
): Promise<{ outcome: FetchOutcome; row: LoginRow | null }> {
  const { rows } = await client.query<LoginRow>(
    `SELECT l.id, l.machine, l.ip_address AS "ipAddress", l.expires_at <= now() AS over,
            coalesce(l.polled_at + make_interval(secs => l.interval_seconds) > now(), false) AS hasty,
            l.interval_seconds AS "intervalS", l.decision, l.user_id AS "userId", l.account_id AS "accountId",
            l.project_id AS "projectId", l.key_name AS "keyName", l.limit_day AS "limitDay", l.limit_week AS "limitWeek",
            l.limit_month AS "limitMonth", l.limit_lifetime AS "limitLifetime", u.email, u.locale
     FROM machine_login l LEFT JOIN app_user u ON u.id = l.user_id WHERE l.device_hash = $1 FOR UPDATE OF l`,
    [digest(deviceCode)],
  );
  const row = rows[0] ?? null;
  if (row === null) return { outcome: { kind: 'unknown' }, row };
  const end = async (outcome: FetchOutcome) => {
    await client.query('DELETE FROM machine_login WHERE id = $1', [row.id]);
    return { outcome, row };
  };
  if (row.over) return end({ kind: 'expired' });
  if (row.decision === 'denied') return end({ kind: 'denied' });
  const interval = row.hasty ? Math.min(row.intervalS + longerByS, maxIntervalS) : row.intervalS;
  if (row.hasty || row.decision === null) {
    await client.query('UPDATE machine_login SET polled_at = now(), interval_seconds = $2 WHERE id = $1', [
      row.id,
      interval,
    ]);
    return { outcome: row.hasty ? { kind: 'slow_down', intervalS: interval } : { kind: 'pending' }, row };
  }
  const { userId, accountId, projectId, keyName } = row;
  if (userId === null || accountId === null || keyName === null) return end({ kind: 'refused' });
  const limits = { day: row.limitDay, week: row.limitWeek, month: row.limitMonth, lifetime: row.limitLifetime };
  const made = await makeKey(client, { userId, accountId, projectId, name: keyName, limits });
  // Rights that ended, or a project that was archived, since the approval.
  return end(
    made.kind === 'created' ? { kind: 'key', secret: made.secret, name: keyName, accountId } : { kind: 'refused' },
  );
}

/** Makes the key of a machine, with what the person may at this moment. It is theirs, and ends when they leave the account. */
async function makeKey(
  client: ClientBase,
  ask: { userId: string; accountId: string; projectId: string | null; name: string; limits: SpendLimits },
): Promise<CreateKeyOutcome> {
  const { userId, accountId, projectId, name, limits } = ask;
  const { rows } = await client.query<{ role: Role }>(
    `SELECT m.role FROM member m JOIN account a ON a.id = m.account_id
     WHERE m.account_id = $1 AND m.user_id = $2 AND a.status <> 'suspended'`,
    [accountId, userId],
  );
  const role = rows[0]?.role;
  if (role === undefined || !rolesWith('keys').includes(role)) return { kind: 'not_allowed' };
  return createKey(client, {
    accountId,
    actor: `user:${userId}`,
    name,
    limits,
    projectId,
    personal: true,
    underLimits: !rolesWith('billing').includes(role),
  });
}

function shownMachine(machine: string): string {
  const text = machine.trim();
  return textProblem(text, maxMachineCharacters) === null ? text : unnamed;
}

/** As people type it: in any case, with or without the hyphen. */
function normalCode(code: string): string {
  return code
    .slice(0, 100)
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '');
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
