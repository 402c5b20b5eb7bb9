import { EventEmitter } from 'node:events';
import { Client, Query, type Submittable } from 'pg';
import { bigintTypes } from '../../server/database/pool.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * PostgreSQL is played by PostgreSQL: its locks, triggers and CHECKs are half of the money path, and a model of them
 * would be another implementation to trust. What the simulation owns is everything around it: the clock that its
 * functions read, the order in which messages reach it, and whether a message, its answer, or the connection is lost.
 * One message is carried out at a time; one that waits for a lock is known to wait, and its answer comes when another
 * message has freed it.
 */
export interface SimulatedDatabase {
  /** A pool of a simulated process. */
  pool(host: Host, options: PoolOptions): SimulatedPool;
  /** A connection of the test's own, at once and without faults. */
  readonly own: Client;
  /** The clock of the database: milliseconds since 1970. */
  nowMs(): number;
  /** Every session ends, and what was not committed is undone: a crash, or the end of a primary. */
  crash(): Promise<void>;
  /** From now on the standby hears nothing from the primary. False: a table that is locked cannot be copied now. */
  partStandby(): Promise<boolean>;
  /** The primary is lost, and the standby becomes it: commits that it has not heard of are gone. */
  failOver(): Promise<void>;
  /** Until when nobody can connect. */
  awayUntil: number;
  /** Messages that were carried out. */
  readonly messages: number;
  close(): Promise<void>;
}

/** The process that a connection belongs to. */
export interface Host {
  readonly alive: boolean;
  /** Runs it when the process runs: later if it is paused, never if it is dead. */
  deliver(delayMs: number, action: () => void): void;
  /** Whether packets get through now. */
  readonly connected: boolean;
  /** Odds that a message, or an answer, is lost together with its connection. */
  readonly lossRate: number;
}

export interface SimulatedPool {
  options: { max: number };
  connect(): Promise<SimulatedClient>;
  query(...given: unknown[]): Promise<unknown>;
  on(): SimulatedPool;
  end(): Promise<void>;
  /** The process is gone, or its packets no longer get through: every connection breaks. */
  breakAll(silently: boolean): void;
}

export interface PoolOptions {
  max: number;
  queryTimeoutMs: number;
  /** Told of each message that was carried out, and of each answer that arrived. */
  step?: () => void;
}

/** A connection of PostgreSQL's, reused by one simulated connection after the other. */
interface Session {
  client: Client;
  pid: number;
  /** Transaction status as PostgreSQL said last: idle, in a transaction, in a failed one. */
  status: 'I' | 'T' | 'E';
  /** What `now()` answers until the transaction ends. */
  beganMs: number;
  /** Whether its transaction may hold locks. */
  holds: boolean;
  /** What its transaction has set for itself; null: the server's setting. */
  lockTimeoutMs: number | null;
  /** A message that was not answered yet. */
  pending: Promise<void> | null;
  answered: boolean;
}

interface Wire {
  query(text: string): void;
  parse(statement: { name: string; text: string }): void;
  bind(values: { statement?: string; values?: readonly string[] }): void;
  execute(): void;
}

type Outcome = { error: Error } | { result: unknown } | 'deliver';

/** Of the server's settings: how long a statement waits for a lock, and a session in a transaction for its client. */
const lockTimeoutMs = 1_000;
const idleTimeoutMs = 4_000;
/** A message that is not to wait in PostgreSQL for a lock waits before it, so often and so long. */
const maxHeldBack = 2_000;
/** Statements that set time-outs. */
const ownTimeOuts =
  /set_config\(name, value|set_config\('idle_in_transaction_session_timeout'|^SET LOCAL (?:lock|statement)_timeout/;
const heldBackMs = 0.5;

export async function createSimulatedDatabase(
  url: string,
  scheduler: Scheduler,
  { startMs, sessions }: { startMs: number; sessions: SessionCache },
): Promise<SimulatedDatabase> {
  const own = sessions.own;
  const busy = new Set<Session>();
  /** Those that the server knows: one that broke silently keeps its session, and what that has locked, until the server notices. */
  const clients = new Set<SimulatedClient>();
  let messages = 0;
  let timeline = 1;
  const database = { awayUntil: 0 };
  const nowMs = (): number => startMs + scheduler.now;
  await own.query(`SELECT set_config('sim.time', $1, false)`, [timeOf(nowMs(), nowMs())]);

  /** Messages that another one has freed: their answers go out in the order in which they were sent. */
  const freed: { number: number; answer: () => void }[] = [];
  const settle = async (): Promise<void> => {
    await quiesce();
    for (const { answer } of freed.splice(0).sort((a, b) => a.number - b.number)) scheduler.at(0, answer);
  };

  /** Waits until every message is answered or known to wait for another session. */
  const quiesce = async (): Promise<void> => {
    for (let round = 0; ; round += 1) {
      const waiting = [...busy].filter((session) => !session.answered);
      if (waiting.length === 0) return;
      if (round > 0) {
        const { rows } = await own.query(
          'SELECT count(*)::int AS n FROM unnest($1::int[]) AS pid WHERE cardinality(pg_blocking_pids(pid)) > 0',
          [waiting.map(({ pid }) => pid)],
        );
        if (rows[0].n === waiting.filter((session) => !session.answered).length) return;
      }
      await Promise.race([
        Promise.all(waiting.map(({ pending }) => pending ?? Promise.resolve())),
        new Promise((resolve) => setTimeout(resolve, round === 0 ? 3 : 1)),
      ]);
    }
  };

  const rollBack = async (session: Session): Promise<void> => {
    if (!session.answered) {
      await own.query('SELECT pg_cancel_backend($1)', [session.pid]);
      await session.pending;
    }
    busy.delete(session);
    if (session.status !== 'I') await session.client.query('ROLLBACK');
    session.status = 'I';
    await session.client.query('DISCARD ALL');
    sessions.give(session);
    await settle();
  };

  const parts: ClientParts = {
    scheduler,
    nowMs,
    clients,
    isAway: () => scheduler.now < database.awayUntil,
    open: () => sessions.take(),
    rollBack,
    async carryOut(session, work, isBegin) {
      messages += 1;
      if (session.status === 'I') session.beganMs = nowMs();
      const wasIdle = session.status === 'I';
      session.answered = false;
      busy.add(session);
      session.pending = (async () => {
        await work();
        session.answered = true;
        busy.delete(session);
        session.holds = session.status !== 'I' && !(wasIdle && isBegin);
      })();
      await settle();
    },
    cancel: async (session) => {
      await own.query('SELECT pg_cancel_backend($1)', [session.pid]);
      await settle();
    },
    get isContended() {
      return busy.size > 0;
    },
    free: (number, answer) => void freed.push({ number, answer }),
    get messages() {
      return messages;
    },
    get timeline() {
      return timeline;
    },
  };

  const endAll = async (): Promise<void> => {
    for (const client of clients) {
      const { session } = client;
      clients.delete(client);
      client.session = null;
      if (session !== null) await rollBack(session);
    }
  };

  const crash = async (): Promise<void> => {
    for (const client of clients) client.break('57P01', true);
    await endAll();
  };

  return {
    own,
    nowMs,
    get awayUntil() {
      return database.awayUntil;
    },
    set awayUntil(until: number) {
      database.awayUntil = until;
    },
    get messages() {
      return messages;
    },

    pool(host, { max, queryTimeoutMs, step }) {
      const idle: SimulatedClient[] = [];
      const all = new Set<SimulatedClient>();
      const waiting: { resolve(client: SimulatedClient): void; reject(error: Error): void }[] = [];
      const release = (client: SimulatedClient, destroy: boolean): void => {
        if (destroy || client.broken) {
          all.delete(client);
          client.end();
          const next = waiting.shift();
          if (next !== undefined) connect().then(next.resolve, next.reject);
          return;
        }
        const next = waiting.shift();
        if (next === undefined) idle.push(client);
        else next.resolve(client);
      };
      const connect = async (): Promise<SimulatedClient> => {
        for (let client = idle.pop(); client !== undefined; client = idle.pop()) {
          if (!client.broken) return client;
          all.delete(client);
        }
        if (all.size >= max) return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
        const client = new SimulatedClient(parts, host, { queryTimeoutMs, release, step });
        all.add(client);
        try {
          await client.connect();
        } catch (error) {
          all.delete(client);
          throw error;
        }
        return client;
      };
      const pool: SimulatedPool = {
        options: { max },
        connect,
        async query(...given) {
          const client = await connect();
          try {
            return await client.query(...given);
          } catch (error) {
            client.failed = true;
            throw error;
          } finally {
            release(client, client.failed && client.broken);
          }
        },
        on: () => pool,
        async end() {
          for (const client of all) client.end();
        },
        breakAll(silently) {
          for (const client of all) client.break('ECONNRESET', silently);
          all.clear();
          idle.length = 0;
        },
      };
      return pool;
    },

    async partStandby() {
      await own.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      const isCopied = await own.query('SELECT standby_follow()').then(
        () => true,
        (error: unknown) => {
          if (isLocked(error)) return false;
          throw error;
        },
      );
      await own.query(isCopied ? 'COMMIT' : 'ROLLBACK');
      return isCopied;
    },

    async failOver() {
      timeline += 1;
      await crash();
      await own.query('SELECT standby_promote()');
    },

    crash,

    async close() {
      for (const client of clients) client.broken = true;
      await endAll();
    },
  };
}

/** PostgreSQL's sessions are expensive to begin: they are kept over all runs. */
export interface SessionCache {
  own: Client;
  take(): Promise<Session>;
  give(session: Session): void;
  end(): Promise<void>;
}

export async function createSessionCache(url: string): Promise<SessionCache> {
  const free: Session[] = [];
  const all: Client[] = [];
  const open = async (): Promise<Client> => {
    const client = new Client({ connectionString: url, types: bigintTypes });
    client.on('error', () => undefined);
    await client.connect();
    all.push(client);
    return client;
  };
  const own = await open();
  // Nothing else goes on while it asks: what is locked stays locked.
  await own.query("SET lock_timeout = '50ms'");
  return {
    own,
    async take() {
      const kept = free.pop();
      if (kept !== undefined) return kept;
      const client = await open();
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
      const session: Session = {
        client,
        pid: rows[0].pid,
        status: 'I',
        beganMs: 0,
        holds: false,
        lockTimeoutMs: null,
        pending: null,
        answered: true,
      };
      // The part of pg that says how a transaction is.
      connectionOf(client).on('readyForQuery', ({ status }: { status: Session['status'] }) => {
        session.status = status;
      });
      return session;
    },
    give: (session) => void free.push(session),
    end: async () => void (await Promise.all(all.map((client) => client.end()))),
  };
}

const connectionOf = (client: Client): EventEmitter => (client as unknown as { connection: EventEmitter }).connection;

const timeOf = (beganMs: number, nowMs: number, timeline = 1): string =>
  `${beganMs / 1_000}|${nowMs / 1_000}|${timeline}`;

interface ClientParts {
  scheduler: Scheduler;
  nowMs(): number;
  clients: Set<SimulatedClient>;
  isAway(): boolean;
  open(): Promise<Session>;
  rollBack(session: Session): Promise<void>;
  carryOut(session: Session, work: () => Promise<void>, isBegin: boolean): Promise<void>;
  /** Whether some message waits for a lock. */
  readonly isContended: boolean;
  cancel(session: Session): Promise<void>;
  /** A message that waited was carried out, thanks to another one. */
  free(number: number, answer: () => void): void;
  readonly messages: number;
  /** Counts the primaries. */
  readonly timeline: number;
}

interface ClientOptions extends Pick<PoolOptions, 'queryTimeoutMs'> {
  release(client: SimulatedClient, destroy: boolean): void;
  step: PoolOptions['step'] | undefined;
}

/** What a connection is to the code: pg's client, as far as it is used. */
class SimulatedClient extends EventEmitter {
  broken = false;
  failed = false;
  session: Session | null = null;
  /** Messages that were sent and not answered, in their order. */
  private readonly queue: (() => Promise<void>)[] = [];
  private readonly rejecting = new Set<(error: Error) => void>();
  private carrying = false;
  private lastHeard = 0;
  private readonly parts: ClientParts;
  private readonly host: Host;
  private readonly options: ClientOptions;

  constructor(parts: ClientParts, host: Host, options: ClientOptions) {
    super();
    this.parts = parts;
    this.host = host;
    this.options = options;
    parts.clients.add(this);
    // An error without a listener would end the test instead of the process.
    this.on('error', () => undefined);
  }

  async connect(): Promise<void> {
    const { scheduler } = this.parts;
    await new Promise<void>((resolve) => this.host.deliver(scheduler.random.between(0.2, 2), resolve));
    if (this.parts.isAway() || !this.host.connected) {
      this.broken = true;
      this.parts.clients.delete(this);
      throw connectionError('ECONNREFUSED');
    }
    await new Promise<void>((resolve) => {
      scheduler.at(0, async () => {
        if (!this.broken) this.session = await this.parts.open();
        this.lastHeard = scheduler.now;
        this.host.deliver(0.2, resolve);
      });
    });
  }

  query(...given: unknown[]): Promise<unknown> {
    const [what] = given;
    if (!isSubmittable(what)) return this.ask(given);
    this.submit(what);
    return Promise.resolve();
  }

  release(destroy?: boolean): void {
    this.options.release(this, destroy === true);
  }

  end(): void {
    this.break('closed', false);
  }

  /** The connection is gone. The server notices at once, or, `silently`, when it has waited for its client for long. */
  break(code: string, silently: boolean): void {
    if (this.broken) return;
    this.broken = true;
    const { scheduler, rollBack, clients } = this.parts;
    const notice = silently ? idleTimeoutMs : scheduler.random.between(0, 5);
    scheduler.at(notice, async () => {
      const { session } = this;
      clients.delete(this);
      this.session = null;
      if (session !== null) await rollBack(session);
    });
    const error = connectionError(code);
    const rejecting = [...this.rejecting];
    this.rejecting.clear();
    if (code === 'closed') return;
    this.host.deliver(0.1, () => {
      for (const reject of rejecting) reject(error);
      this.emit('error', error);
    });
  }

  /** Sends one message, and resolves with what came of it; faults are decided here. */
  private message(
    work: (session: Session) => Promise<Outcome>,
    done: (outcome: Outcome) => void,
    isBegin = false,
  ): void {
    const { scheduler, isAway } = this.parts;
    const { host } = this;
    const reject = (error: Error): void => done({ error });
    if (this.broken) {
      host.deliver(0, () => reject(connectionError('ECONNRESET')));
      return;
    }
    this.rejecting.add(reject);
    const timeout = scheduler.at(this.options.queryTimeoutMs, () => {
      if (!this.rejecting.delete(reject)) return;
      host.deliver(0, () => reject(new Error('Query read timeout')));
    });
    const lostBefore = scheduler.random.chance(host.lossRate);
    const lostAfter = scheduler.random.chance(host.lossRate);
    const there = scheduler.random.between(0.1, 1.5);
    const back = scheduler.random.between(0.1, 1.5);
    let heldBack = 0;
    const carry = async (): Promise<void> => {
      const { session } = this;
      if (session === null || this.broken) return;
      // Who comes next when several wait for one lock is PostgreSQL's to say, and not the same each time: the others come later.
      if (this.parts.isContended && !session.holds && heldBack < maxHeldBack) {
        heldBack += 1;
        this.queue.unshift(carry);
        scheduler.at(heldBackMs, () => this.next());
        return;
      }
      if (lostBefore || isAway() || !host.connected) return this.break('ECONNRESET', !host.connected);
      this.lastHeard = scheduler.now;
      let outcome: Outcome | null = null;
      let isTooLong = false;
      const answer = (): void => {
        this.lastHeard = scheduler.now;
        this.options.step?.();
        // As PostgreSQL names the end of its own time-out.
        if (isTooLong && outcome !== null && outcome !== 'deliver' && 'error' in outcome) named(outcome.error, '55P03');
        if (this.broken) return;
        if (lostAfter) return this.break('ECONNRESET', false);
        host.deliver(back, () => {
          if (!this.rejecting.delete(reject)) return;
          timeout.action = null;
          done(outcome as Outcome);
          this.options.step?.();
        });
        this.watchIdle();
      };
      let isWaiting = false;
      const number = this.parts.messages;
      await this.parts.carryOut(
        session,
        async () => {
          outcome = await work(session);
          if (isWaiting) this.parts.free(number, answer);
        },
        isBegin,
      );
      if (outcome !== null) return answer();
      isWaiting = true;
      scheduler.at(session.lockTimeoutMs ?? lockTimeoutMs, async () => {
        if (outcome !== null || this.session !== session) return;
        isTooLong = true;
        await this.parts.cancel(session);
      });
    };
    this.queue.push(carry);
    scheduler.at(there, () => this.next());
  }

  private async next(): Promise<void> {
    if (this.carrying) {
      this.parts.scheduler.at(0.05, () => this.next());
      return;
    }
    const carry = this.queue.shift();
    if (carry === undefined) return;
    this.carrying = true;
    try {
      await carry();
    } finally {
      this.carrying = false;
    }
  }

  /** A session that waits too long for its client within a transaction is ended by the server. */
  private watchIdle(): void {
    const { session } = this;
    const heard = this.lastHeard;
    if (session === null || session.status === 'I') return;
    this.parts.scheduler.at(idleTimeoutMs, () => {
      if (this.session === session && !this.broken && this.lastHeard === heard && session.status !== 'I')
        this.break('57P05', false);
    });
  }

  private submit(flight: Submittable & Flight): void {
    this.message(
      (session) =>
        new Promise((resolve) => {
          const own = Object.create(flight) as Flight & Record<string, unknown>;
          own.submit = (connection: Wire) => flight.submit(connection);
          own.handleDataRow = (row: never) => flight.handleDataRow(row);
          own.handleCommandComplete = (message: never) => flight.handleCommandComplete(message);
          this.withClock(session, own);
          own.handleReadyForQuery = () => resolve('deliver');
          own.callback = (error: Error | null) => resolve(error === null ? 'deliver' : { error });
          // pg forgets a query with its error; the status of the transaction comes after it.
          own.handleError = (error: Error) =>
            void connectionOf(session.client).once('readyForQuery', () => resolve({ error }));
          session.client.query(own as unknown as Submittable);
        }),
      (outcome) => flight.callback(outcome === 'deliver' ? null : 'error' in outcome ? outcome.error : null),
    );
  }

  private ask([what, values]: unknown[]): Promise<unknown> {
    const config =
      typeof what === 'string'
        ? { text: what, ...(values === undefined ? {} : { values: values as unknown[] }) }
        : (what as { text: string });
    return new Promise((resolve, reject) => {
      this.message(
        (session) =>
          new Promise((carried) => {
            // Time-outs are the simulation's own: PostgreSQL's run by another clock.
            const [, waitsMs] = /^SET LOCAL lock_timeout = '(\d+)ms'$/.exec(config.text) ?? [];
            if (waitsMs !== undefined) session.lockTimeoutMs = Number(waitsMs);
            if (ownTimeOuts.test(config.text)) return carried({ result: { rows: [], command: 'SELECT' } });
            const done = (error: Error | null, result: unknown): void => {
              if (error === null) carried({ result });
              // pg forgets a query with its error; the status of the transaction comes after it.
              else connectionOf(session.client).once('readyForQuery', () => carried({ error }));
            };
            const query = new Query({ ...config, types: bigintTypes } as never, done as never) as unknown as Flight;
            this.withClock(session, query);
            session.client.query(query as unknown as Submittable);
          }),
        (outcome) => {
          if (outcome !== 'deliver' && 'error' in outcome) reject(outcome.error);
          else resolve(outcome === 'deliver' ? undefined : outcome.result);
        },
        config.text.startsWith('BEGIN'),
      );
    });
  }

  /** Sends the clock with the first of a query's messages, and keeps its answer from the query. */
  private withClock(session: Session, query: Flight): void {
    if (session.status === 'E') return;
    let isAnswered = false;
    const { submit, handleCommandComplete } = query;
    query.submit = (connection) => submit.call(query, withFirst(connection, this.clock(session)));
    query.handleCommandComplete = (message: never, connection: never) => {
      if (isAnswered) handleCommandComplete.call(query, message, connection);
      isAnswered = true;
    };
  }

  private clock(session: Session): string {
    if (session.status === 'I') {
      session.beganMs = this.parts.nowMs();
      session.lockTimeoutMs = null;
    }
    return `SET sim.time = '${timeOf(session.beganMs, this.parts.nowMs(), this.parts.timeline)}'`;
  }
}

interface Flight {
  submit(connection: Wire): void;
  callback(error: Error | null): void;
  handleDataRow(row: never): void;
  handleCommandComplete(message: never, connection?: never): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

function isSubmittable(what: unknown): what is Submittable & Flight {
  return typeof what === 'object' && what !== null && 'submit' in what;
}

/** The connection, on which `first` is carried out before anything else. */
function withFirst(connection: Wire, first: string): Wire {
  let done = false;
  return new Proxy(connection, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        if (!done && name === 'query') return target.query(`${first}; ${String(given[0])}`);
        if (!done && (name === 'parse' || name === 'bind' || name === 'close')) {
          done = true;
          target.parse({ name: '', text: first });
          target.bind({ statement: '', values: [] });
          target.execute();
        }
        return (member as (...all: unknown[]) => unknown).apply(target, given);
      };
    },
  });
}

function connectionError(code: string): Error {
  return named(new Error(`the connection is gone: ${code}`), code);
}

/** Whether the test's own connection has met a lock of a transaction that has not ended. */
export const isLocked = (error: unknown): boolean => (error as { code?: unknown }).code === '55P03';

function named(error: Error, code: string): Error {
  return Object.assign(error, { code });
}

/**
 * Makes a migrated database tell the time that a session is given. Its own functions are replaced, so that defaults,
 * triggers and CHECKs follow too.
 */
export async function ownTime(client: Pick<Client, 'query'>): Promise<void> {
  await client.query('SET allow_system_table_mods = on');
  for (const [name, field, volatility] of [
    ['now', 1, 'STABLE'],
    ['transaction_timestamp', 1, 'STABLE'],
    ['statement_timestamp', 2, 'STABLE'],
    ['clock_timestamp', 2, 'VOLATILE'],
  ] as const)
    await client.query(
      `CREATE OR REPLACE FUNCTION pg_catalog.${name}() RETURNS timestamptz LANGUAGE sql ${volatility} AS
       $$ SELECT pg_catalog.to_timestamp(pg_catalog.split_part(pg_catalog.current_setting('sim.time'), '|', ${field})::pg_catalog.float8) $$`,
    );
  // Its first eight digits are the timeline. It uses its argument, so that it is inlined: PostgreSQL calls its own functions without
  // a look at the catalog.
  await client.query(
    `CREATE OR REPLACE FUNCTION pg_catalog.pg_walfile_name(lsn pg_lsn) RETURNS text LANGUAGE sql STABLE AS
     $$ SELECT pg_catalog.lpad(pg_catalog.split_part(pg_catalog.current_setting('sim.time'), '|', 3), 8, '0') || lsn $$`,
  );
  const { rows } = await client.query(
    `SELECT c.oid::regclass::text AS "table", a.attname AS "column" FROM pg_attrdef d
     JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum JOIN pg_class c ON c.oid = d.adrelid
     WHERE pg_get_expr(d.adbin, d.adrelid) ~ 'CURRENT_TIMESTAMP'`,
  );
  for (const { table, column } of rows as { table: string; column: string }[])
    await client.query(`ALTER TABLE ${table} ALTER COLUMN "${column}" SET DEFAULT now()`);
}
