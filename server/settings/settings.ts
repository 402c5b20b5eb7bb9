import type { Pool, PoolClient } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import type { Config } from '../runtime/config.ts';
import { appendAudit } from '../shared/audit.ts';
import type { Seal, SealedPlace } from '../shared/seal.ts';
import { type GroupEntry, type SettingGroup, settingGroups, storableSettings } from './table.ts';

/** Where people and programs reach the service, without a trailing slash; to be read at each use. */
export interface PublicAddress {
  readonly publicUrl: string;
}

/** The settings in force: the environment's, and below it what operators stored. */
export interface OperatorSettings {
  /** The configuration in force now. Read it at each use: a change takes effect without a restart. */
  readonly config: Config;
  /** The public address in force now. */
  readonly address: PublicAddress;
  /** Reads what is stored anew: at the start, and when any process changed it. */
  load(): Promise<void>;
  group(name: SettingGroup): readonly SettingState[];
  /** Stores the settings of a group; an empty value deletes one, one that is left out stays. */
  save(ask: SettingsChange, actor: string): Promise<SettingsOutcome>;
  /** The configuration as it would be; nothing is stored. */
  preview(ask: SettingsChange): Promise<SettingsPreview>;
}

export interface SettingsChange {
  group: SettingGroup;
  values: readonly { name: string; value: string }[];
}

export interface SettingState {
  name: string;
  source: 'environment' | 'stored' | 'default';
  /** Of a secret its last four characters at most; null: not set. */
  shown: string | null;
}

interface SettingsProblem {
  /** The setting; null: the group as a whole. */
  name: string | null;
  message: string;
}

export type SettingsOutcome = { kind: 'saved' } | SettingsRefusal;
type SettingsPreview = { kind: 'fine'; config: Config } | SettingsRefusal;
interface SettingsRefusal {
  kind: 'invalid';
  problems: readonly SettingsProblem[];
}

/** A sealed setting is bound to its name. */
export function placeOfSetting(id: string): SealedPlace {
  return { table: 'operator_setting', rowId: id, column: 'sealed' };
}

const maxLength = 2_000;

/** What is stored, by name; what cannot be read is told of and left out. */
export async function readStoredSettings(
  client: Pick<PoolClient, 'query'>,
  seal: Seal,
  warn: (facts: { setting: string }, message: string) => void,
): Promise<Record<string, string>> {
  const { rows } = await client.query<{ id: string; sealed: Buffer }>('SELECT id, sealed FROM operator_setting');
  const values: Record<string, string> = {};
  for (const { id, sealed } of rows) {
    const value = storableSettings.has(id) ? seal.unseal(placeOfSetting(id), sealed) : null;
    if (value === null) warn({ setting: id }, 'a stored setting cannot be read');
    else values[id] = value;
  }
  return values;
}

export function createOperatorSettings({
  environment,
  pool,
  seal,
  warn,
}: {
  /** What the process was started with. */
  environment: Config;
  pool: Pool;
  seal: Seal;
  /** Tells that something stored cannot be used. */
  warn: (facts: object, message: string) => void;
}): OperatorSettings {
  const { overlay } = environment;
  let stored: Readonly<Record<string, string>> = {};
  let config = environment;
  // Two reads at once must not end in the order of their answers.
  let reading: Promise<void> = Promise.resolve();

  const readStored = (client: Pick<PoolClient, 'query'>) => readStoredSettings(client, seal, warn);

  const load = async (): Promise<void> => {
    const values = await readStored(pool);
    const read = overlay.read(values);
    // With an environment that changed since, the two may not fit: then the environment alone counts.
    if ('problems' in read)
      warn({ problems: read.problems.map(({ name }) => name) }, 'the stored settings are not used');
    stored = values;
    config = 'problems' in read ? environment : read.config;
  };

  /** What would be stored after a change, or why it cannot be. */
  const changed = (before: Readonly<Record<string, string>>, { group, values }: SettingsChange) => {
    const { settings }: GroupEntry = settingGroups[group];
    const after: Record<string, string> = { ...before };
    const problems: SettingsProblem[] = [];
    for (const { name, value } of values) {
      const entry = settings.find((one) => one.name === name);
      const text = value.trim();
      if (entry === undefined) problems.push({ name: null, message: `${name} is not a setting of this group` });
      else if (overlay.isGiven(name)) problems.push({ name, message: 'is set in the environment, which wins' });
      else if (text.length > maxLength || /\p{Cc}/u.test(text)) problems.push({ name, message: 'must be one line' });
      else if (text === '') delete after[name];
      else after[name] = text;
    }
    if (problems.length > 0) return { problems };
    const has = (name: string) => overlay.isGiven(name) || after[name] !== undefined;
    // None of them, or all that the group needs: by half it would send money or people elsewhere.
    if (settings.some(({ name }) => has(name))) {
      const missing = settings.filter(({ name, required }) => required && !has(name));
      if (missing.length > 0) return { problems: missing.map(({ name }) => ({ name, message: 'is needed here' })) };
    }
    const read = overlay.read(after);
    return 'problems' in read ? read : { after, config: read.config };
  };

  const stateOf = (name: string, isSecret: boolean): SettingState => {
    if (overlay.isGiven(name)) return { name, source: 'environment', shown: shownOf(overlay.given(name), isSecret) };
    const value = stored[name];
    if (value === undefined) return { name, source: 'default', shown: null };
    return { name, source: 'stored', shown: shownOf(value, isSecret) };
  };

  const reload = (): Promise<void> => {
    reading = reading.catch(() => undefined).then(load);
    return reading;
  };

  return {
    get config() {
      return config;
    },
    address: {
      get publicUrl() {
        return config.publicUrl;
      },
    },
    load: reload,
    group: (name) => settingGroups[name].settings.map((entry) => stateOf(entry.name, entry.kind === 'secret')),
    async preview(ask) {
      const result = changed(await readStored(pool), ask);
      if ('problems' in result) return { kind: 'invalid', problems: result.problems };
      return { kind: 'fine', config: result.config };
    },
    async save(ask, actor) {
      const outcome = await repeatedTransaction<SettingsOutcome>(pool, async (client) => {
        // One change at a time: what is checked together is stored together.
        await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.settings', 0))`);
        const before = await readStored(client);
        const result = changed(before, ask);
        if ('problems' in result) return { kind: 'invalid', problems: result.problems };
        await write(client, seal, { before, after: result.after, group: ask.group, actor });
        return { kind: 'saved' };
      });
      if (outcome.kind === 'saved') await reload();
      return outcome;
    },
  };
}

function shownOf(value: string, isSecret: boolean): string {
  if (!isSecret) return value;
  // Of a short secret its end would be most of it.
  return value.length < 12 ? '…' : `…${value.slice(-4)}`;
}

async function write(
  client: PoolClient,
  seal: Seal,
  { before, after, group, actor }: { before: Stored; after: Stored; group: SettingGroup; actor: string },
): Promise<void> {
  const { settings }: GroupEntry = settingGroups[group];
  const moved = settings.filter(({ name }) => before[name] !== after[name]);
  if (moved.length === 0) return;
  for (const { name } of moved) {
    const value = after[name];
    if (value === undefined) await client.query('DELETE FROM operator_setting WHERE id = $1', [name]);
    else {
      await client.query(
        `INSERT INTO operator_setting (id, sealed) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, updated_at = now()`,
        [name, seal.seal(placeOfSetting(name), value)],
      );
    }
  }
  const facts = (values: Stored) =>
    Object.fromEntries(
      moved.map(({ name, kind }) => {
        const value = values[name];
        return [name, value === undefined ? null : shownOf(value, kind === 'secret')];
      }),
    );
  await appendAudit(client, {
    actor,
    action: 'settings.save',
    subject: `settings:${group}`,
    before: facts(before),
    after: facts(after),
  });
}

type Stored = Readonly<Record<string, string>>;
