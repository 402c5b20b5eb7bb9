/** Passwords: bounded work, and weak ones refused. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createPasswords,
  PasswordsBusyError,
  passwordProblem,
  personalTexts,
} from '../../server/people/sign-in/passwords.ts';

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
    ['1234567890', 'The password is among those that are guessed first; choose another.'],
    ['twelve-of-it', null],
    ['ế'.repeat(10), null],
    ['x'.repeat(1_024), null],
    ['x'.repeat(1_025), 'The password has more than 1024 bytes.'],
    ['ế'.repeat(400), 'The password has more than 1024 bytes.'],
  ])('of this length are judged: %#', (password, problem) => {
    expect(passwordProblem(password)).toBe(problem);
  });
});

describe('a usual password', () => {
  it.each([
    '1234567890',
    '0987654321',
    'qwertyuiop',
    'qwerty12345',
    '1q2w3e4r5t',
    '1qaz2wsx3edc',
    'password123',
    'P@ssw0rd2024!',
    'Password!!!',
    'iloveyou12',
    'abcdefghij',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    '123456789a',
    'football2024',
    '!!Liverpool1!!',
    'matkhau123',
    'Matkhau@123',
    'anhyeuem123',
    'administrator',
    'changeme123',
    'passwordpassword',
    'zxcvbnm,./',
    '1111111111',
    'asdfghjkl;',
    'Steyg2026!!!',
    'christopher',
    'ｐａｓｓｗｏｒｄ123',
  ])('%s is refused', (password) => {
    expect(passwordProblem(password)).toMatch(/guessed first/);
  });

  it.each([
    'correct horse battery',
    'the operator knows this',
    'long enough it is',
    'hunter2 hunter2',
    'mật khẩu của tôi',
    'tG7#kq92-xWv',
    'sunshine on a rainy day',
    'x'.repeat(1_024),
  ])('%s is not one', (password) => {
    expect(passwordProblem(password)).toBeNull();
  });

  it('is the address or the name of the person, with or without decoration', () => {
    const personal = personalTexts({ email: 'nguyenvan.an@example.com', name: 'Nguyễn Văn An' });
    for (const password of ['nguyenvan.an@example.com', 'nguyenvan.an', 'Nguyenvan.An1990', 'nguyễn văn an'])
      expect(passwordProblem(password, personal)).toMatch(/guessed first/);
    expect(passwordProblem('nguyenvan.an likes rain', personal)).toBeNull();
  });

  it('is hardly ever what a generator makes', () => {
    // Always the same ones: one in ten thousand looks like a usual one.
    const made = Array.from({ length: 2_000 }, (_, index) =>
      createHash('sha256').update(`password ${index}`).digest().subarray(0, 9).toString('base64url'),
    );
    expect(made.filter((password) => passwordProblem(password) !== null)).toEqual([]);
  });
});
