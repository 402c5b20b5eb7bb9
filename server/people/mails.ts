import type { Mail } from '../runtime/mail.ts';
import type { Locale } from '../shared/page.ts';

/** The mails about people's sign-in. Plain sentences, one link, in their language. */

/** Unknown languages fall back to English. */
export function localeOf(text: string | null | undefined): Locale {
  return text === 'vi' ? 'vi' : 'en';
}

interface Text {
  subject: string;
  body: string;
}

function mail(to: string, text: Text, link: string): Mail {
  return { to, subject: text.subject, text: `${text.body}\n\n${link}\n`, links: [link] };
}

/** Confirms the address of a sign-up. The link is bound to its password. */
export function verificationMail(to: string, locale: Locale, link: string): Mail {
  const text = {
    en: {
      subject: 'Confirm your e-mail address',
      body: 'Somebody, hopefully you, signed up for Steyg with this address. Open this link within 24 hours to confirm it. If it was not you, do nothing: without the link nothing happens.',
    },
    vi: {
      subject: 'Xác nhận địa chỉ e-mail của bạn',
      body: 'Có người, hy vọng là bạn, đã đăng ký Steyg bằng địa chỉ này. Hãy mở liên kết sau trong vòng 24 giờ để xác nhận. Nếu không phải bạn, hãy bỏ qua thư này.',
    },
  }[locale];
  return mail(to, text, link);
}

/** Answers a sign-up with an address that has an account: the page must not reveal it, the mailbox may. */
export function alreadySignedUpMail(to: string, locale: Locale, link: string): Mail {
  const text = {
    en: {
      subject: 'You already have a Steyg account',
      body: 'Somebody, hopefully you, tried to sign up for Steyg with this address, which has an account already. Sign in here, or reset your password there if you have forgotten it:',
    },
    vi: {
      subject: 'Bạn đã có tài khoản Steyg',
      body: 'Có người, hy vọng là bạn, vừa thử đăng ký Steyg bằng địa chỉ này, nhưng địa chỉ này đã có tài khoản. Hãy đăng nhập tại đây, hoặc đặt lại mật khẩu nếu bạn đã quên:',
    },
  }[locale];
  return mail(to, text, link);
}

export function passwordResetMail(to: string, locale: Locale, link: string): Mail {
  const text = {
    en: {
      subject: 'Reset your password',
      body: 'Open this link within an hour to choose a new password. Every session will be signed out, and all passkeys and linked accounts are removed. If you did not ask for it, do nothing.',
    },
    vi: {
      subject: 'Đặt lại mật khẩu',
      body: 'Hãy mở liên kết sau trong vòng một giờ để chọn mật khẩu mới. Mọi phiên đăng nhập sẽ bị đăng xuất, mọi passkey và tài khoản liên kết sẽ bị xóa. Nếu bạn không yêu cầu, hãy bỏ qua thư này.',
    },
  }[locale];
  return mail(to, text, link);
}

/** Goes to the old address: a stolen session must not suffice to take the account away. */
export function emailChangeMail(to: string, locale: Locale, newEmail: string, link: string): Mail {
  const text = {
    en: {
      subject: 'Confirm your new e-mail address',
      body: `Your address is to be changed to ${newEmail}. Open this link to allow it; a second link then goes to the new address. If you did not ask for it, change your password.`,
    },
    vi: {
      subject: 'Xác nhận địa chỉ e-mail mới',
      body: `Địa chỉ của bạn sắp được đổi thành ${newEmail}. Hãy mở liên kết sau để đồng ý; một liên kết thứ hai sẽ được gửi tới địa chỉ mới. Nếu bạn không yêu cầu, hãy đổi mật khẩu.`,
    },
  }[locale];
  return mail(to, text, link);
}

export function newAddressMail(to: string, locale: Locale, link: string): Mail {
  const text = {
    en: { subject: 'Confirm this address', body: 'Open this link to use this address for your Steyg sign-in.' },
    vi: { subject: 'Xác nhận địa chỉ này', body: 'Hãy mở liên kết sau để dùng địa chỉ này khi đăng nhập Steyg.' },
  }[locale];
  return mail(to, text, link);
}

/** Tells of a key that a machine got. `link`: where it is deleted. */
export function machineMail(
  to: string,
  locale: Locale,
  { machine, ipAddress, key }: { machine: string; ipAddress: string; key: string },
  link: string,
): Mail {
  const text = {
    en: {
      subject: 'A machine was signed in',
      body: `The machine “${machine}” at ${ipAddress} got the API key “${key}”, as you approved. If it was not you, delete the key here at once and change your password:`,
    },
    vi: {
      subject: 'Một máy đã được đăng nhập',
      body: `Máy “${machine}” tại ${ipAddress} đã nhận API key “${key}” theo chấp thuận của bạn. Nếu không phải bạn, hãy xóa key ngay tại đây và đổi mật khẩu:`,
    },
  }[locale];
  return mail(to, text, link);
}

/** Reports a change that matters for security. `link`: where the password is reset, or the passkeys are. */
export function securityMail(
  to: string,
  locale: Locale,
  what:
    | 'password'
    | 'second_factor_on'
    | 'second_factor_off'
    | 'passkey_added'
    | 'passkey_removed'
    | 'ways_removed_by_reset',
  link: string,
): Mail {
  const texts = {
    password: {
      en: {
        subject: 'Your password was changed',
        body: 'The password of your Steyg sign-in was changed and all other sessions were signed out. If it was not you, reset the password now:',
      },
      vi: {
        subject: 'Mật khẩu của bạn đã được đổi',
        body: 'Mật khẩu đăng nhập Steyg của bạn đã được đổi và mọi phiên khác đã bị đăng xuất. Nếu không phải bạn, hãy đặt lại mật khẩu ngay tại đây:',
      },
    },
    second_factor_on: {
      en: {
        subject: 'One-time codes were switched on',
        body: 'From now on your Steyg sign-in asks for a one-time code, and all other sessions were signed out. If it was not you, somebody else has used your sign-in: reset the password here and tell the support at once.',
      },
      vi: {
        subject: 'Mã dùng một lần đã được bật',
        body: 'Từ nay đăng nhập Steyg của bạn yêu cầu thêm mã dùng một lần, và mọi phiên khác đã bị đăng xuất. Nếu không phải bạn, có người khác đã dùng đăng nhập của bạn: hãy đặt lại mật khẩu tại đây và báo ngay cho bộ phận hỗ trợ.',
      },
    },
    second_factor_off: {
      en: {
        subject: 'One-time codes were switched off',
        body: 'Your Steyg sign-in no longer asks for a one-time code. If it was not you, reset the password now:',
      },
      vi: {
        subject: 'Mã dùng một lần đã bị tắt',
        body: 'Đăng nhập Steyg của bạn không còn yêu cầu mã dùng một lần. Nếu không phải bạn, hãy đặt lại mật khẩu ngay tại đây:',
      },
    },
    passkey_added: {
      en: {
        subject: 'A passkey was added',
        body: 'From now on a new passkey signs you in to Steyg, without password and code. If it was not you, remove it here at once, then change your password:',
      },
      vi: {
        subject: 'Đã thêm một passkey',
        body: 'Từ nay một passkey mới đăng nhập được vào Steyg của bạn mà không cần mật khẩu và mã. Nếu không phải bạn, hãy xóa nó ngay tại đây rồi đổi mật khẩu:',
      },
    },
    passkey_removed: {
      en: {
        subject: 'A passkey was removed',
        body: 'A passkey no longer signs you in to Steyg, and the other sessions that it opened have ended. If it was not you, change your password now:',
      },
      vi: {
        subject: 'Đã xóa một passkey',
        body: 'Một passkey không còn đăng nhập được vào Steyg của bạn, và các phiên khác do nó mở đã kết thúc. Nếu không phải bạn, hãy đổi mật khẩu ngay:',
      },
    },
    ways_removed_by_reset: {
      en: {
        subject: 'Your passkeys and linked accounts were removed',
        body: 'A new password was chosen with a link from this mailbox. So that nobody else keeps a way in, all sessions were signed out, and all passkeys and linked accounts of other services were removed. Sign in with the new password and add your own again here:',
      },
      vi: {
        subject: 'Các passkey và tài khoản liên kết của bạn đã bị xóa',
        body: 'Mật khẩu mới đã được chọn bằng liên kết gửi đến hộp thư này. Để không ai khác còn cách đăng nhập, mọi phiên đã bị đăng xuất, mọi passkey và tài khoản liên kết ở dịch vụ khác đã bị xóa. Hãy đăng nhập bằng mật khẩu mới rồi thêm lại những gì của bạn tại đây:',
      },
    },
  };
  return mail(to, texts[what][locale], link);
}

/** An account elsewhere signs the person in from now on, or no longer. `service`: the host of its provider. */
export function identityMail(
  to: string,
  locale: Locale,
  what: 'linked' | 'removed',
  service: string,
  link: string,
): Mail {
  const texts = {
    linked: {
      en: {
        subject: `An account of ${service} was linked`,
        body: `From now on an account of ${service} signs you in to Steyg. If it was not you, remove it here at once, then change your password:`,
      },
      vi: {
        subject: `Đã liên kết một tài khoản ${service}`,
        body: `Từ nay một tài khoản ${service} đăng nhập được vào Steyg của bạn. Nếu không phải bạn, hãy xóa nó ngay tại đây rồi đổi mật khẩu:`,
      },
    },
    removed: {
      en: {
        subject: `An account of ${service} was removed`,
        body: `An account of ${service} no longer signs you in to Steyg, and your other sessions have ended. If it was not you, change your password now:`,
      },
      vi: {
        subject: `Đã xóa một tài khoản ${service}`,
        body: `Một tài khoản ${service} không còn đăng nhập được vào Steyg của bạn, và các phiên khác của bạn đã kết thúc. Nếu không phải bạn, hãy đổi mật khẩu ngay:`,
      },
    },
  };
  return mail(to, texts[what][locale], link);
}

/** Proves that the owner of the address wants an account elsewhere to sign them in. */
export function linkIdentityMail(to: string, locale: Locale, service: string, link: string): Mail {
  const text = {
    en: {
      subject: `Link an account of ${service}?`,
      body: `Somebody, hopefully you, signed in at ${service} with this address and wants to use that account for Steyg. Open this link within half an hour, in the same browser, to allow it. If it was not you, do nothing.`,
    },
    vi: {
      subject: `Liên kết tài khoản ${service}?`,
      body: `Có người, hy vọng là bạn, đã đăng nhập tại ${service} bằng địa chỉ này và muốn dùng tài khoản đó cho Steyg. Hãy mở liên kết sau trong vòng nửa giờ, trong cùng trình duyệt, để đồng ý. Nếu không phải bạn, hãy bỏ qua thư này.`,
    },
  }[locale];
  return mail(to, text, link);
}

/** To the owners of an account that was erased, and to its own address. */
export function accountErasedMail(to: string, locale: Locale, link: string): Mail {
  const text = {
    en: {
      subject: 'Your Steyg account was erased',
      body: 'An account with this address was erased at the request of an owner: its keys no longer work, and what was left of its budget is lost. This link confirms for 90 days what was erased and what the law has us keep. If it was not you or one of your colleagues, tell the support at once.',
    },
    vi: {
      subject: 'Tài khoản Steyg của bạn đã bị xóa',
      body: 'Một tài khoản với địa chỉ này đã bị xóa theo yêu cầu của chủ sở hữu: các API key không còn hoạt động và phần số dư còn lại đã mất. Liên kết này xác nhận trong 90 ngày những gì đã xóa và những gì pháp luật buộc lưu lại. Nếu không phải bạn hoặc đồng nghiệp của bạn, hãy báo ngay cho bộ phận hỗ trợ.',
    },
  }[locale];
  return mail(to, text, link);
}

export function invitationMail(to: string, locale: Locale, account: string, inviter: string, link: string): Mail {
  const text = {
    en: {
      subject: `${inviter} invites you to ${account}`,
      body: `${inviter} invites you to join the account "${account}" at Steyg. Open this link within seven days, and sign in or sign up with this address.`,
    },
    vi: {
      subject: `${inviter} mời bạn tham gia ${account}`,
      body: `${inviter} mời bạn tham gia tài khoản "${account}" tại Steyg. Hãy mở liên kết sau trong vòng bảy ngày, rồi đăng nhập hoặc đăng ký bằng địa chỉ này.`,
    },
  }[locale];
  return mail(to, text, link);
}

/** Tells an owner which keys somebody has seen who left the account, and whether they still work. */
export function leftKeysMail(
  to: string,
  locale: Locale,
  left: {
    name: string;
    account: string;
    keys: readonly { name: string; last4: string }[];
    fate: 'keep' | 'revoke';
    link: string;
  },
): Mail {
  const { name, account, keys, fate, link } = left;
  const list = keys.slice(0, maxListed).map((key) => `- ${key.name} (…${key.last4})`);
  if (keys.length > maxListed) list.push(`… +${keys.length - maxListed}`);
  const text = {
    en: {
      keep: {
        subject: `Keys that ${name} knows still work`,
        body: `${name} left the account "${account}". These API keys, which ${name} made or rotated, still work. Rotate or delete those that ${name} must not use any more:`,
      },
      revoke: {
        subject: `Keys of ${name} were revoked`,
        body: `${name} left the account "${account}". These API keys, which ${name} made or rotated, were revoked and work no longer:`,
      },
    },
    vi: {
      keep: {
        subject: `Các key mà ${name} biết vẫn hoạt động`,
        body: `${name} đã rời tài khoản "${account}". Các API key sau do ${name} tạo hoặc đổi vẫn hoạt động. Hãy đổi hoặc xóa những key mà ${name} không được dùng nữa:`,
      },
      revoke: {
        subject: `Các key của ${name} đã bị thu hồi`,
        body: `${name} đã rời tài khoản "${account}". Các API key sau do ${name} tạo hoặc đổi đã bị thu hồi và không còn hoạt động:`,
      },
    },
  }[locale][fate];
  return mail(to, { subject: text.subject, body: `${text.body}\n\n${list.join('\n')}` }, link);
}

/** Keys that a mail names. */
const maxListed = 50;
