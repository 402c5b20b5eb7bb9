import type { Facts, KeyTruth, ModelTruth, Operation } from '../lane/batch.ts';
import type { AdmitAsk } from '../types.ts';
import type { Testimony, Witness } from './witness.ts';

/** What this process knows of keys and models from the lane's batches, each with the number of changes it was read at. */
export interface Truths {
  /** What is known of the key and the model of a request. Null: the lane has to look. */
  recall(asked: AdmitAsk): Recalled | null;
  /** A batch has been committed. */
  remember(operations: readonly Operation[], facts: Facts): void;
  /** Asks the witness. Null: the database cannot be asked, or not in time. */
  ask(): Promise<Testimony | null>;
  /** The last testimony, for decisions that need not be exact. */
  readonly last: Testimony | null;
  /** When the witness was last asked. Monotonic milliseconds. */
  readonly askedAt: number;
  /** An estimate of the database's clock without a query; never early. */
  aboutNow(): number;
}

/** What is known of a request's key and model. */
export interface Recalled {
  key: Known<KeyTruth>;
  model: Known<ModelTruth>;
}

interface Known<Truth> {
  truth: Truth;
  change: string;
}

/** Known keys and models, each; more are forgotten all at once. */
const maxTruths = 20_000;

/** `onFailOver`: the database goes on from another past, in which what this process has held may be missing. */
export function createTruths(witness: Witness, onFailOver: () => void): Truths {
  const keys = new Map<string, Known<KeyTruth>>();
  const models = new Map<string, Known<ModelTruth>>();
  let last: Testimony | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  let timeline: string | null = null;

  const note = (change: string): void => {
    const [current = ''] = change.split('/', 1);
    if (current === timeline) return;
    if (timeline !== null) onFailOver();
    timeline = current;
  };

  return {
    recall(asked) {
      const key = keys.get(asked.keyId);
      const model = models.get(asked.model);
      return key === undefined || model === undefined ? null : { key, model };
    },

    remember(operations, { change, ...facts }) {
      note(change);
      if (keys.size > maxTruths) keys.clear();
      if (models.size > maxTruths) models.clear();
      for (const operation of operations) {
        if (operation.kind !== 'admit') continue;
        const { keyId, model } = operation.ask;
        const key = facts.keys.get(keyId);
        const size = facts.models.get(model);
        if (key !== undefined) keys.set(keyId, { truth: key, change });
        if (size !== undefined) models.set(model, { truth: size, change });
      }
    },

    async ask() {
      askedAt = performance.now();
      last = await witness.ask();
      if (last !== null) note(last.change);
      return last;
    },

    get last() {
      return last;
    },

    get askedAt() {
      return askedAt;
    },

    aboutNow: () => (last === null ? Number.POSITIVE_INFINITY : last.nowMs + last.ageMs()),
  };
}

/** Whether the cached facts of key, account and model are valid at the witness's moment, and admit the request. */
export function isTrue(asked: AdmitAsk, { key, model }: Recalled, { change, nowMs }: Testimony): boolean {
  const { truth } = key;
  const { priceUntilMs } = model.truth;
  return (
    key.change === change &&
    model.change === change &&
    truth.valid &&
    truth.accountActive &&
    truth.accountId === asked.accountId &&
    (truth.expiresAtMs === null || nowMs < truth.expiresAtMs) &&
    (truth.models.length === 0 || truth.models.includes(asked.model)) &&
    // Like the lane, which counts a price that begins in the next millisecond.
    (priceUntilMs === null || nowMs + 1 < priceUntilMs)
  );
}
