import { randomBytes } from 'node:crypto';
import { link, mkdir, readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport, type Transporter } from 'nodemailer';
import type { Log } from '../core/log.ts';
import { describeError } from './http.ts';

/** A mail of the service: plain text, with its links also as a list, for programs. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  links: string[];
}

export type MailLog = Pick<Log, 'error'>;

export interface Mailer {
  /**
   * Queues a mail and returns at once: the time of an answer must not reveal whether a mail was sent. Failures are
   * retried a few times, then logged. A queued mail does not survive the process.
   */
  post(mail: Mail): void;
  /** Sends now and throws on failure, for callers with retries of their own. */
  deliver: (mail: Mail) => Promise<void>;
  /** Deletes the files of some mails. Mails that a server has taken are out of reach. */
  forget(isOver: (mail: Mail) => boolean): Promise<void>;
  /** Deletes files of mails that are older than this moment. */
  prune(before: Date): Promise<void>;
  /** Waits for mails in flight. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const retryDelaysMs = [1_000, 10_000, 60_000];

/** SMTP when a server is configured; otherwise each mail is a file `mail/<time>-<to>.json` of the data directory. */
export function createMailer(options: {
  /** The server and the sender in force, asked at each mail; `smtpUrl` null: none. */
  settings: () => { smtpUrl: string | null; from: string };
  dataDir: string;
  log: MailLog;
  /** Delay before each further attempt. */
  delaysMs?: readonly number[];
}): Mailer {
  const { settings, dataDir, log } = options;
  const delaysMs = options.delaysMs ?? retryDelaysMs;
  // A silent mail server must not keep the row of a notice locked for longer than its transaction may be idle.
  const limits = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 60_000 };
  let made: { key: string; transport: Transporter } | null = null;
  /** The transport of the settings in force; null: files. One of settings that were changed is closed when it is idle. */
  const transportNow = (): Transporter | null => {
    const { smtpUrl, from } = settings();
    const key = JSON.stringify([smtpUrl, from]);
    if (made?.key !== key) {
      made?.transport.close();
      made = smtpUrl === null ? null : { key, transport: createTransport({ url: smtpUrl, ...limits }, { from }) };
    }
    return made?.transport ?? null;
  };
  const closing = new AbortController();
  const open = new Set<Promise<void>>();

  const deliver = async (mail: Mail): Promise<void> => {
    const transport = transportNow();
    if (transport === null) await writeMail(join(dataDir, 'mail'), mail);
    else await transport.sendMail({ to: mail.to, subject: mail.subject, text: mail.text });
  };

  const persist = async (mail: Mail): Promise<void> => {
    for (const delayMs of [...delaysMs, null]) {
      try {
        await deliver(mail);
        return;
      } catch (error) {
        if (delayMs === null || closing.signal.aborted) {
          log.error(describeError(error), 'a mail could not be sent');
          return;
        }
        await pause(delayMs, closing.signal);
      }
    }
  };

  return {
    post(mail) {
      const sending = persist(mail).finally(() => open.delete(sending));
      open.add(sending);
    },
    deliver,
    async forget(isOver) {
      if (transportNow() !== null) return;
      // A mail that is being written would outlive it.
      await Promise.all(open);
      await deleteMails(join(dataDir, 'mail'), async (path) =>
        isOver(JSON.parse(await readFile(path, 'utf8')) as Mail),
      );
    },
    prune: (before) => deleteMails(join(dataDir, 'mail'), async (path) => (await stat(path)).mtime < before),
    async idle() {
      await Promise.all(open);
    },
    async close() {
      closing.abort();
      await Promise.all(open);
      made?.transport.close();
    },
  };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function writeMail(directory: string, mail: Mail): Promise<void> {
  // Its links open accounts: other users of the machine must not read them.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const recipient = mail.to.replaceAll(/[^A-Za-z0-9@._+-]/g, '_').slice(0, 100);
  const { to, subject, text, links } = mail;
  const draft = join(directory, `.${randomBytes(8).toString('hex')}`);
  await writeFile(draft, `${JSON.stringify({ to, subject, text, links }, null, 2)}\n`, { mode: 0o600 });
  try {
    for (let now = Date.now(); ; now += 1) {
      const time = new Date(now).toISOString().replaceAll(/[:.]/g, '-');
      if (await linkUnlessTaken(draft, join(directory, `${time}-${recipient}.json`))) return;
    }
  } finally {
    await unlink(draft);
  }
}

async function deleteMails(directory: string, isOver: (path: string) => Promise<boolean>): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    // Another process of this machine may delete the same file.
    if (await isOver(path).catch(() => false)) await unlink(path).catch(() => undefined);
  }
}

/** Two mails to one address within a millisecond get different names. */
async function linkUnlessTaken(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  }
}
