import { afterEach, describe, expect, it } from 'vitest';
import { createSteygClient } from '../../dashboard/src/client.ts';
import { forgetHistoryAge, historyAge, watchingHistory } from '../../dashboard/src/history-age.ts';

/** The page knows how old the history is that a replica answered with. */

afterEach(forgetHistoryAge);

const clientOf = (answers: object[], type = 'application/json') =>
  createSteygClient(
    'http://steyg.test',
    watchingHistory(async () => new Response(JSON.stringify(answers.shift()), { headers: { 'content-type': type } })),
  );
const age = (maxAgeSeconds: number) => ({ history: { source: 'replica', maxAgeSeconds } });
const data = { viewer: null };

describe('answers', () => {
  it.each(['application/json', 'application/graphql-response+json; charset=utf-8'])(
    'from a replica say their age, of which the oldest counts, and keep their data: %s',
    async (type) => {
      const steyg = clientOf(
        [{ data }, { data, extensions: age(7) }, { data, extensions: { other: 1, ...age(3) } }, { data }],
        type,
      );
      const ages = [];
      for (let each = 0; each < 4; each += 1) {
        expect(await steyg.graphql('{ viewer { id } }')).toEqual(data);
        ages.push(historyAge());
      }
      expect(ages).toEqual([null, 7, 7, 7]);
      forgetHistoryAge();
      expect(historyAge()).toBeNull();
    },
  );

  it('cannot say it by a text in their data', async () => {
    const text = JSON.stringify({ extensions: age(9) });
    await clientOf([{ data: { viewer: { name: text } } }]).graphql('{ viewer { name } }');
    expect(historyAge()).toBeNull();
  });
});
