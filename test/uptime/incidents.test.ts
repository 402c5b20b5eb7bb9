/** The rule of incidents, on probes in words. */

import { describe, expect, it } from 'vitest';
import { decideIncident, type IncidentDecision, type OpenIncident } from '../../server/uptime/incidents.ts';

const minute = (n: number) => new Date(Date.UTC(2026, 10, 21, 9, n));

/** Probes in words: one string a way, one letter every five minutes: `u` up, `d` down, `-` no data. */
function probes(ways: Record<string, string>) {
  return Object.entries(ways).flatMap(([way, letters]) => {
    const [protocol, mode] = way.split('/') as ['messages' | 'chat-completions', 'plain' | 'stream'];
    return Array.from(letters, (letter, i) => ({
      protocol,
      mode,
      startedAt: minute(5 * i),
      outcome: letter === 'u' ? ('up' as const) : letter === 'd' ? ('down' as const) : ('no_data' as const),
    }));
  });
}

const plain = 'messages/plain';
const stream = 'messages/stream';
const nothing: IncidentDecision = { kind: 'none' };
const openOn = (affected: string[], impact: OpenIncident['impact'] = 'major'): OpenIncident => ({ impact, affected });

describe('incidents', () => {
  it.each<[string, Record<string, string>, OpenIncident | null, IncidentDecision]>([
    ['no probes', {}, null, nothing],
    ['all is well', { [plain]: 'uuuu', [stream]: 'uuuu' }, null, nothing],
    ['one failure', { [plain]: 'uuud' }, null, nothing],
    ['two failures', { [plain]: 'uudd' }, null, nothing],
    ['failures with a success between', { [plain]: 'ddudd' }, null, nothing],
    [
      'three failures',
      { [plain]: 'uddd' },
      null,
      { kind: 'open', startedAt: minute(5), impact: 'major', affected: [plain] },
    ],
    [
      'three failures, no data between',
      { [plain]: 'd-d--d' },
      null,
      { kind: 'open', startedAt: minute(0), impact: 'major', affected: [plain] },
    ],
    ['no data is no failure', { [plain]: 'u---------' }, null, nothing],
    [
      'one way of two',
      { [plain]: 'uuuuu', [stream]: 'uuddd' },
      null,
      { kind: 'open', startedAt: minute(10), impact: 'partial', affected: [stream] },
    ],
    [
      'both ways, the first failure counts',
      { [plain]: 'udddd', [stream]: 'uuddd' },
      null,
      { kind: 'open', startedAt: minute(5), impact: 'major', affected: [plain, stream] },
    ],
    [
      'a way without data does not count as well',
      { [plain]: 'ddd', [stream]: '---' },
      null,
      { kind: 'open', startedAt: minute(0), impact: 'major', affected: [plain] },
    ],
    ['it goes on', { [plain]: 'dddd' }, openOn([plain]), { kind: 'update', impact: 'major', affected: [plain] }],
    [
      'it widens and worsens',
      { [plain]: 'dddd', [stream]: 'uddd' },
      openOn([plain], 'partial'),
      { kind: 'update', impact: 'major', affected: [plain, stream] },
    ],
    [
      'it stays as bad as it was',
      { [plain]: 'dddd', [stream]: 'dduu' },
      openOn([plain, stream]),
      { kind: 'update', impact: 'major', affected: [plain, stream] },
    ],
    [
      'one success does not end it',
      { [plain]: 'dddu' },
      openOn([plain]),
      { kind: 'update', impact: 'major', affected: [plain] },
    ],
    ['two successes end it at the first', { [plain]: 'ddduu' }, openOn([plain]), { kind: 'end', endedAt: minute(15) }],
    [
      'success, failure, success does not',
      { [plain]: 'ddd-udu' },
      openOn([plain]),
      { kind: 'update', impact: 'major', affected: [plain] },
    ],
    [
      'no data does not end it',
      { [plain]: 'ddd----' },
      openOn([plain]),
      { kind: 'update', impact: 'major', affected: [plain] },
    ],
    ['nor does forgetting', {}, openOn([plain]), nothing],
    [
      'the last way to recover ends it',
      { [plain]: 'ddduuuu', [stream]: 'ddddduu' },
      openOn([plain, stream]),
      { kind: 'end', endedAt: minute(25) },
    ],
    ['one that ended does not open again', { [plain]: 'ddduuu' }, null, nothing],
    [
      'another one can open',
      { [plain]: 'ddduuddd' },
      null,
      { kind: 'open', startedAt: minute(25), impact: 'major', affected: [plain] },
    ],
  ])('%s', (_, ways, open, expected) => {
    expect(decideIncident(probes(ways), open)).toEqual(expected);
    expect(decideIncident(probes(ways).toReversed(), open)).toEqual(expected);
  });
});
