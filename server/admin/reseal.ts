import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';
import type { ClientBase } from 'pg';
import { sealContextOf } from '../catalog/upstreams.ts';
import { placeOfChannelSecret } from '../notices/channels.ts';
import { placeOfWebhookSecret } from '../notices/webhooks.ts';
import { signInSecret } from '../people/sign-in/auth.ts';
import { placeOfSetting } from '../settings/settings.ts';
import { createSeal, type SealedPlace } from '../shared/seal.ts';

/** The numbers of secrets that were resealed, and of those that none of the keys opens. */
export interface Resealed {
  resealed: number;
  lost: number;
}

/**
 * Reseals with the current secret key the secrets that a previous one had sealed: keys of upstreams, secrets of
 * webhooks and channels of notices, settings of operators, and those of one-time codes. Afterwards the previous keys are no longer needed. Signatures (sessions, links
 * of mails and downloads) become invalid with the old key. To be called in a transaction; any number of processes may
 * call it.
 */
export async function resealSecrets(
  client: ClientBase,
  { current, previous }: { current: Buffer; previous: readonly Buffer[] },
): Promise<Resealed> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.reseal', 0))`);
  const counts: Resealed = { resealed: 0, lost: 0 };
  const seal = createSeal({ secretKeys: [current, ...previous] });
  const places: [string, (id: string) => SealedPlace][] = [
    ['upstream_key', sealContextOf],
    ['webhook_endpoint', placeOfWebhookSecret],
    ['notice_channel', placeOfChannelSecret],
    ['operator_setting', placeOfSetting],
  ];
  for (const [table, placeOf] of places) {
    const { rows } = await client.query<{ id: string; sealed: Buffer }>(
      `SELECT id, sealed FROM ${table} WHERE sealed <> '' ORDER BY id FOR NO KEY UPDATE`,
    );
    for (const { id, sealed } of rows.filter((row) => !seal.isCurrent(row.sealed))) {
      const text = seal.unseal(placeOf(id), sealed);
      if (text === null) counts.lost += 1;
      else {
        await client.query(`UPDATE ${table} SET sealed = $2 WHERE id = $1`, [id, seal.seal(placeOf(id), text)]);
        counts.resealed += 1;
      }
    }
  }
  await resealOneTimeCodes(client, [current, ...previous].map(signInSecret), counts);
  return counts;
}

/** These are encrypted by the library that checks them, which knows one key and does not name it. */
async function resealOneTimeCodes(client: ClientBase, keys: readonly string[], counts: Resealed): Promise<void> {
  const [current = ''] = keys;
  const { rows } = await client.query<{ id: string; secret: string; backupCodes: string }>(
    'SELECT id, secret, backup_codes AS "backupCodes" FROM user_two_factor ORDER BY id FOR NO KEY UPDATE',
  );
  // Each on its own: a process that still has the previous key may have made new backup codes beside a resealed secret.
  const reseal = async (data: string): Promise<string | null> => {
    const key = await findKey(keys, data);
    if (key === null || key === current) return key === null ? null : data;
    return symmetricEncrypt({ key: current, data: await symmetricDecrypt({ key, data }) });
  };
  for (const { id, secret, backupCodes } of rows) {
    const [newSecret, newCodes] = [await reseal(secret), await reseal(backupCodes)];
    if (newSecret === null || newCodes === null) counts.lost += 1;
    const changed = [newSecret ?? secret, newCodes ?? backupCodes] as const;
    if (changed[0] === secret && changed[1] === backupCodes) continue;
    await client.query('UPDATE user_two_factor SET secret = $2, backup_codes = $3 WHERE id = $1', [id, ...changed]);
    counts.resealed += 1;
  }
}

/** The key that opens a text; authenticated encryption tells the right one from the others. */
async function findKey(keys: readonly string[], data: string): Promise<string | null> {
  for (const key of keys) {
    const opens = await symmetricDecrypt({ key, data }).then(
      () => true,
      () => false,
    );
    if (opens) return key;
  }
  return null;
}
