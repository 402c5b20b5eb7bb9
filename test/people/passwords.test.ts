import { describe, expect, it } from 'vitest';
import { createPasswords, PasswordsBusyError, passwordProblem } from '../../server/people/passwords.ts';

describe('passwords', () => {
  it('are argon2id with the parameters OWASP recommends', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse battery');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.verify({ hash, password: 'correct horse battery' })).toBe(true);
    expect(await passwords.verify({ hash, password: 'correct horse batterz' })).toBe(false);
  });

  it('match however a keyboard encodes them', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('mật khẩu của tôi'.normalize('NFC'));
    expect(await passwords.verify({ hash, password: 'mật khẩu của tôi'.normalize('NFD') })).toBe(true);
  });

  it('are never right against something that is no digest', async () => {
    expect(await createPasswords().verify({ hash: 'plain', password: 'plain' })).toBe(false);
  });

  it('wait in a bounded line, and those beyond it are turned away at once', async () => {
    const passwords = createPasswords({ concurrent: 1, waiting: 2 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => passwords.hash('correct horse battery')),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(7);
    expect(refused.every(({ reason }) => reason instanceof PasswordsBusyError)).toBe(true);
    // The line is empty again.
    await expect(passwords.hash('correct horse battery')).resolves.toContain('$argon2id$');
  });

  it.each([
    ['123456789', 'The password needs at least 10 characters.'],
    ['1234567890', null],
    ['ế'.repeat(10), null],
    ['x'.repeat(1_024), null],
    ['x'.repeat(1_025), 'The password has more than 1024 bytes.'],
    ['ế'.repeat(400), 'The password has more than 1024 bytes.'],
  ])('of this length are judged: %#', (password, problem) => {
    expect(passwordProblem(password)).toBe(problem);
  });
});
