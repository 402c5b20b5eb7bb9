import { array, assert, constantFrom, integer, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerRoom } from '../../server/gateway/load/answer-room.ts';

/** Bytes of unstreamed answers in memory: bounded, shared fairly, and never a reason to wait for ever. */

const bounds = { perAccountBytes: 120, totalBytes: 150, maxAnswerBytes: 60 };
const maxPieceBytes = 20;

function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`broken: ${what}`);
}

/** Answers of many accounts that come in pieces, complete at random, and are taken or abandoned at random. */
function createWorld() {
  const room = createAnswerRoom(bounds);
  const answers: {
    accountId: string;
    share: ReturnType<typeof room.open>;
    bytes: number;
    state: 'collecting' | 'paused' | 'waiting';
  }[] = [];
  const bytesOf = (accountId: string): number =>
    answers.filter((answer) => answer.accountId === accountId).reduce((sum, { bytes }) => sum + bytes, 0);
  const remove = (index: number): void => {
    const [answer] = answers.splice(index, 1);
    answer?.share.close();
  };
  return {
    room,
    answers,
    bytesOf,
    open(accountId: string): void {
      const answer: (typeof answers)[number] = {
        accountId,
        share: room.open(accountId),
        bytes: 0,
        state: 'collecting',
      };
      answer.share.onRoom(() => {
        must(answer.state === 'paused', 'only an answer that was held back is told to go on');
        answer.state = 'collecting';
      });
      answers.push(answer);
    },
    collect(index: number, bytes: number): void {
      const answer = answers[index];
      if (answer?.state !== 'collecting' || answer.bytes + bytes > bounds.maxAnswerBytes) return;
      answer.bytes += bytes;
      const before = new Set(answers.filter((other) => other.bytes > 0).map(({ accountId }) => accountId)).size;
      const mayGoOn = answer.share.collect(bytes);
      if (!mayGoOn) answer.state = 'paused';
      // An account below its equal share is never slowed down, however much the others hold.
      const isBelowShare = bytesOf(answer.accountId) < Math.min(bounds.perAccountBytes, bounds.totalBytes / before);
      must(mayGoOn || !isBelowShare, 'an account below its share is not held back');
    },
    complete(index: number): void {
      const answer = answers[index];
      if (answer === undefined || answer.state !== 'collecting' || answer.bytes === 0) return;
      answer.state = 'waiting';
      answer.share.handOver(answer.bytes);
    },
    discard(index: number): void {
      const answer = answers[index];
      if (answer === undefined || answer.state === 'waiting') return;
      answer.bytes = 0;
      answer.state = 'collecting';
      answer.share.discard();
    },
    remove,
  };
}

const step = record({
  act: constantFrom(
    'open',
    'open',
    'collect',
    'collect',
    'collect',
    'collect',
    'collect',
    'complete',
    'discard',
    'remove',
  ),
  account: integer({ min: 0, max: 11 }),
  index: nat(15),
  bytes: integer({ min: 1, max: maxPieceBytes }),
});

describe('the room for unstreamed answers', () => {
  it('is bounded, fair, and free of deadlock once clients have taken their answers', () => {
    assert(
      property(array(step, { minLength: 100, maxLength: 400 }), (steps) => {
        const world = createWorld();
        const { room, answers } = world;
        for (const { act, account, index, bytes } of steps) {
          if (act === 'open' && answers.length < 16) world.open(`account-${account}`);
          else if (act === 'collect') world.collect(index, bytes);
          else if (act === 'complete') world.complete(index);
          else if (act === 'discard') world.discard(index);
          else if (act === 'remove' && index < answers.length) world.remove(index);

          const total = answers.reduce((sum, answer) => sum + answer.bytes, 0);
          expect(room.bytes).toBe(total);
          // Below its share every account may go on: twice the total, a whole answer, and a piece for each that came.
          expect(total).toBeLessThanOrEqual(
            2 * bounds.totalBytes + bounds.maxAnswerBytes + answers.length * maxPieceBytes,
          );
          for (const { accountId } of answers) {
            const own = world.bytesOf(accountId);
            expect(own).toBeLessThanOrEqual(2 * bounds.perAccountBytes + answers.length * maxPieceBytes);
            expect(room.isFull(accountId)).toBe(own >= bounds.perAccountBytes);
          }
          const collecting = answers.filter(({ state, bytes: own }) => state !== 'waiting' && own > 0);
          const isStuck = collecting.length > 0 && collecting.every(({ state }) => state === 'paused');
          must(!isStuck || answers.some(({ state }) => state === 'waiting'), 'not all wait for one another');
        }
        while (answers.length > 0) world.remove(0);
        expect(room.bytes).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('answers of an account that fill its bound slow down this account and no other', () => {
    const world = createWorld();
    for (let i = 0; i < 3; i += 1) world.open('greedy');
    for (let round = 0; round < 10; round += 1) for (let i = 0; i < 3; i += 1) world.collect(i, 10);
    // The oldest is let through, so that one of them can become complete.
    expect(world.answers.map(({ state }) => state)).toEqual(['collecting', 'paused', 'paused']);
    expect(world.answers[0]?.bytes).toBe(bounds.maxAnswerBytes);
    world.complete(0);
    expect(world.room.isFull('greedy')).toBe(true);

    world.open('bystander');
    for (let round = 0; round < 6; round += 1) world.collect(3, 10);
    expect(world.answers[3]).toMatchObject({ state: 'collecting', bytes: 60 });
    expect(world.room.isFull('bystander')).toBe(false);
    world.remove(0);
    expect(world.answers.map(({ state }) => state)).toContain('collecting');
  });
});
