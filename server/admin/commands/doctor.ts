/** The command that examines a host before it serves, or while it does. */

import { examineAddresses } from '../doctor/address.ts';
import { examineDatabase } from '../doctor/database.ts';
import { examineHost } from '../doctor/host.ts';
import { withStoredSettings } from '../doctor/stored-settings.ts';
import { type Command, CommandError } from './command.ts';

export const doctorCommands: readonly Command[] = [
  {
    name: 'doctor',
    usage: '',
    summary:
      'examine this host: Node, files, clock, disk, database, secret, stored settings, public address, streams, webhooks',
    async runAlone({ config: environment }) {
      const { config, finding } = await withStoredSettings(environment);
      const findings = [
        ...(await examineHost(config)),
        finding,
        ...(await examineDatabase(config)),
        ...(await examineAddresses(config)),
      ];
      const width = Math.max(...findings.map(({ subject }) => subject.length));
      const text = findings
        .map(({ subject, state, found, advice }) =>
          [`${state.padEnd(8)}  ${subject.padEnd(width)}  ${found}`, ...(advice === undefined ? [] : [advice])].join(
            `\n${' '.repeat(width + 12)}`,
          ),
        )
        .join('\n');
      const bad = findings.filter(({ state }) => state === 'bad');
      if (bad.length > 0) throw new CommandError('host_unfit', text, { findings });
      return { json: { findings }, text };
    },
  },
];
