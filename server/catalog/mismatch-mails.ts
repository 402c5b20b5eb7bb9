import type { ClientBase, Pool } from 'pg';
import type { Log } from '../core/log.ts';
import { transaction } from '../database/lane.ts';
import { describeError } from '../runtime/http.ts';
import type { Mail } from '../runtime/mail.ts';
import { type Locale, momentText } from '../shared/page.ts';
import { type ModelMismatch, noName, otherNames } from './model-mismatches.ts';

/**
 * Mails operators about upstreams that answer with another model: all due mismatches of an operator go into one mail.
 */

interface MismatchMailDeps {
  /** Must read BIGINT as `bigint`. */
  pool: Pool;
  /** Sends immediately; throws on failure. */
  deliverMail: (mail: Mail) => Promise<void>;
  /** The page on which operators review and close mismatches. */
  /** Read for each mail. */
  readonly booksUrl: string;
  log: Pick<Log, 'warn'>;
}

export interface MismatchMails {
  /**
   * Sends the due mails, at most one per operator. A failed mail is retried by the next runs, up to `maxTries` times. A
   * mail is sent again when its process died while sending it. Returns the number of mails sent.
   */
  sendMails(): Promise<number>;
}

type MailedMismatch = Omit<ModelMismatch, 'firstSeenAt' | 'closedAt' | 'closedBy'>;

const maxTries = 6;
/** Maximum mismatches in a mail; the page lists all. */
const maxListed = 20;

/** An advisory lock instead of row locks while a mail is sent: counting and closing must not wait for a mail server. */
const sendersLock = 7_305_120;

export function createMismatchMails(deps: MismatchMailDeps): MismatchMails {
  const { pool, deliverMail, log } = deps;

  const attempt = async (mail: Mail): Promise<boolean> => {
    try {
      await deliverMail(mail);
      return true;
    } catch (error) {
      log.warn(describeError(error), 'an alarm could not be mailed');
      return false;
    }
  };

  /** Returns the operator that was mailed; null when no mail is due. */
  const sendOne = async (
    client: ClientBase,
    tried: readonly string[],
  ): Promise<{ id: string; sent: boolean } | null> => {
    const { rows: lock } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS free', [
      sendersLock,
    ]);
    if (lock[0]?.free !== true) return null;
    const { rows: operators } = await client.query<{ id: string; email: string; locale: string }>(
      `SELECT id, email, locale FROM app_user
        WHERE operator AND id <> ALL ($1::uuid[])
          AND EXISTS (SELECT FROM model_mismatch_mail WHERE user_id = app_user.id AND state = 'due')
        ORDER BY id LIMIT 1`,
      [tried],
    );
    const [operator] = operators;
    if (operator === undefined) return null;
    const { rows: due } = await client.query<MailedMismatch>(
      `SELECT m.id, m.model, m.upstream, m.asked, m.reported, m.count, m.last_request_id AS "lastRequestId",
              m.last_seen_at AS "lastSeenAt"
         FROM model_mismatch_mail d JOIN model_mismatch m ON m.id = d.mismatch_id
        WHERE d.user_id = $1 AND d.state = 'due' ORDER BY m.last_seen_at DESC, m.id`,
      [operator.id],
    );
    const locale = operator.locale === 'vi' ? 'vi' : 'en';
    const sent = await attempt(mismatchMail({ to: operator.email, locale, mismatches: due, booksUrl: deps.booksUrl }));
    await client.query(
      `UPDATE model_mismatch_mail
          SET tries = tries + 1, state = CASE WHEN $3 THEN 'sent' WHEN tries + 1 < $4 THEN 'due' ELSE 'failed' END
        WHERE user_id = $1 AND mismatch_id = ANY ($2::uuid[]) AND state = 'due'`,
      [operator.id, due.map(({ id }) => id), sent, maxTries],
    );
    return { id: operator.id, sent };
  };

  return {
    async sendMails() {
      const tried: string[] = [];
      for (let sent = 0; ; ) {
        const one = await transaction(pool, (client) => sendOne(client, tried));
        if (one === null) return sent;
        tried.push(one.id);
        if (one.sent) sent += 1;
      }
    },
  };
}

/** The alarm for one operator, in their language. */
function mismatchMail(input: {
  to: string;
  locale: Locale;
  mismatches: readonly MailedMismatch[];
  booksUrl: string;
}): Mail {
  const { to, locale, mismatches, booksUrl } = input;
  const { subject, meaning, line, more, remedy } = texts[locale];
  const listed = mismatches.slice(0, maxListed).map((mismatch) => `- ${line(mismatch)}`);
  const rest = mismatches.length - listed.length;
  return {
    to,
    subject,
    text: `${meaning}\n\n${[...listed, ...(rest > 0 ? [more(rest)] : [])].join('\n')}\n\n${remedy}\n${booksUrl}\n`,
    links: [booksUrl],
  };
}

interface Texts {
  subject: string;
  meaning: string;
  line(mismatch: MailedMismatch): string;
  more(count: number): string;
  remedy: string;
}

const texts: Record<Locale, Texts> = {
  en: {
    subject: 'Steyg: an upstream answers with another model',
    meaning:
      'An upstream says that it ran another model than it was asked for. Customers may be paying for a model that they did not get.',
    line: ({ model, upstream, asked, reported, count, lastSeenAt, lastRequestId }) =>
      `${model} at ${upstream}: asked for ${asked}, answered as ${named(reported, 'en')}; answers so far: ${count}, the last on ${momentText(lastSeenAt, 'en')}, request ${lastRequestId}`,
    more: (count) => `and ${count} more`,
    remedy:
      'If it is the same model under another name, give the route that name; if not, switch the route off. Then close it here. While it is open you are not told again; when it comes back afterwards, you are:',
  },
  vi: {
    subject: 'Steyg: một upstream trả lời bằng model khác',
    meaning:
      'Một upstream cho biết đã chạy model khác với model được yêu cầu. Khách hàng có thể đang trả tiền cho model mà họ không nhận được.',
    line: ({ model, upstream, asked, reported, count, lastSeenAt, lastRequestId }) =>
      `${model} tại ${upstream}: yêu cầu ${asked}, trả lời là ${named(reported, 'vi')}; số lần đến nay: ${count}, lần cuối lúc ${momentText(lastSeenAt, 'vi')}, yêu cầu ${lastRequestId}`,
    more: (count) => `và ${count} mục khác`,
    remedy:
      'Nếu đó là cùng một model dưới tên khác, hãy đặt tên đó cho tuyến; nếu không, hãy tắt tuyến. Sau đó đóng mục này tại đây. Khi còn mở, bạn không được báo lại; nếu nó tái diễn sau đó, bạn sẽ được báo:',
  },
};

const remarks: Record<Locale, Record<string, string>> = {
  en: { [noName]: 'something that is no name', [otherNames]: 'ever other names' },
  vi: { [noName]: 'một giá trị không phải là tên', [otherNames]: 'nhiều tên khác nhau' },
};

function named(reported: string, locale: Locale): string {
  return remarks[locale][reported] ?? reported;
}
