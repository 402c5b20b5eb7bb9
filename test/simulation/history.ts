/**
 * What clients, operators and banks saw, and what the books say in the end. Times are those of the run, which nobody but
 * the checker knows. Amounts are pico-USD.
 */
export interface History {
  accounts: AccountRecord[];
  requests: RequestRecord[];
  changes: ChangeRecord[];
  orders: OrderRecord[];
  codes: CodeRecord[];
  disturbances: Disturbance[];
  /** What operators were told of erasures. */
  erasures: ErasureRecord[];
  /** Archives and restores that ran alone, when everything was healed: why one failed, or null. */
  archives: { at: number; problem: string | null }[];
  /** Earlier bills: what they say stays. */
  earlier: { at: number; bills: Bill[] }[];
  /** Balances that were asked for and answered. */
  bills: Bill[];
  /** Requests at the end, one at a time, when nothing else runs: none of them is sent. */
  probes: ProbeRecord[];
}

export interface ErasureRecord {
  account: number;
  askedAt: number;
  confirmedAt: number | null;
}

export interface ProbeRecord {
  account: number;
  key: number;
  at: number;
  /** `admitted`, or why not; null: no answer came. */
  answer: string | null;
}

export interface AccountRecord {
  id: string;
  keys: { id: string; limitDay: bigint | null }[];
  limitWeek: bigint | null;
  limitMonth: bigint | null;
  /** What operators gave: confirmed at this time; null: asked for and not confirmed. */
  grants: { id: string; amount: bigint; askedAt: number; confirmedAt: number | null; endsAtMs: number | null }[];
}

export interface RequestRecord {
  id: string;
  account: number;
  key: number;
  process: number;
  askedAt: number;
  /** Null: no answer came. */
  answeredAt: number | null;
  answer: { kind: 'admitted'; amount: bigint; priceId: string } | { kind: 'refused'; reason: string } | null;
  /** What its tokens cost at the price of its admission. Null: it did not come to its end. */
  cost: bigint | null;
  /** The client has its last bytes: the service will charge it. */
  writtenAt: number | null;
  /** The line may be lost with its process: its disk took none. */
  isLineInDoubt: boolean;
  /** The end of a request that was never sent to a vendor. */
  released: boolean;
  settled: { at: number; cost: bigint; charged: bigint; freeAfter: bigint } | null;
}

export interface ChangeRecord {
  kind: 'price' | 'delete_key' | 'suspend' | 'activate';
  account: number | null;
  key: number | null;
  priceId?: string;
  askedAt: number;
  confirmedAt: number | null;
}

export interface OrderRecord {
  account: number;
  orderId: string;
  budget: bigint;
  priceVnd: bigint;
  /** What the bank has told of, each movement once, however often it was told. */
  paidVnd: bigint;
  madeAt: number;
  /** When the bank was last told that its message was taken. */
  toldAt: number;
}

export interface CodeRecord {
  id: string;
  amount: bigint;
  uses: number;
  /** Accounts that asked for it, and whether they were told that they got it. */
  asked: { account: number; at: number; answeredAt: number | null; confirmed: boolean; refused: boolean }[];
}

export interface Disturbance {
  /** Null: the database. */
  process: number | null;
  kind: 'kill' | 'pause' | 'cut' | 'loss' | 'disk' | 'crash' | 'warp' | 'start' | 'clock' | 'failover' | 'power';
  from: number;
  to: number;
}

/** The books at the end, when everything is healed and idle. */
export interface Bill {
  account: number;
  entries: { requestId: string; keyId: string; cost: bigint; charged: bigint; atMs: number; isArchived: boolean }[];
  /** What the books say of the months that were archived. */
  archived: { requests: bigint; cost: bigint; charged: bigint };
  grants: { amount: bigint; sourceRef: string; kind: string }[];
  balance: { granted: bigint; charged: bigint; held: bigint; expired: bigint; free: bigint };
}
