/** The commands for access tokens and operators. */

import { transaction } from '../../database/lane.ts';
import { createAccessTokens } from '../../people/access-tokens.ts';
import { scopes } from '../../people/principal.ts';
import { commandLine } from '../../shared/audit.ts';
import { createOperator, preparePassword } from '../operator.ts';
import { accountOf, type Command, CommandError, invalidField } from './command.ts';

export const peopleCommands: readonly Command[] = [
  {
    name: 'token create',
    usage: '--account E --scopes read,keys,billing,operator [--name N] [--expires ISO]',
    summary: 'make an access token for GraphQL; its secret is shown this once',
    async run(surroundings, given) {
      const asked = given.required('scopes') === '' ? [] : (given.list('scopes') ?? []);
      const unknown = asked.find((scope) => !(scopes as readonly string[]).includes(scope));
      if (unknown !== undefined || asked.length === 0) {
        throw new CommandError('invalid_input', `--scopes must name some of ${scopes.join(', ')}`);
      }
      const account = await accountOf(surroundings, given);
      const outcome = await createAccessTokens(surroundings).create(
        {
          accountId: account.id,
          name: given.text('name') ?? 'Made on the command line',
          scopes: scopes.filter((scope) => asked.includes(scope)),
          expiresAt: given.moment('expires') ?? null,
          createdBy: null,
        },
        commandLine,
      );
      if (outcome.kind === 'bad_input') throw new CommandError('invalid_input', outcome.message);
      if (outcome.kind === 'not_allowed') throw new Error('the command line was taken for a person');
      return { json: { token: { id: outcome.id, secret: outcome.secret } } };
    },
  },
  {
    name: 'operator create',
    usage: '--email E [--password P]',
    summary: 'make an operator, or one of a person who is there; without --password a fresh one is shown this once',
    async run({ pool }, given) {
      const email = given.required('email');
      const chosen = given.text('password') ?? null;
      const prepared = await preparePassword(chosen);
      if ('problem' in prepared) throw new CommandError('invalid_input', prepared.problem);
      const outcome = await transaction(pool, (client) =>
        createOperator(client, { email, digest: prepared.digest, actor: commandLine }),
      );
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      const operator = { id: outcome.userId, email: outcome.email };
      return { json: { operator: chosen === null ? { ...operator, password: prepared.password } : operator } };
    },
  },
];
