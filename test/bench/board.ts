import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { addCustomerOf } from './database.ts';

/** Opens the account of a public board's run (`server/deploy/board`): money without end, and the key that its manifest declares. */
const { values } = parseArgs({ options: { data: { type: 'string' }, definition: { type: 'string' } } });
if (values.data === undefined || values.definition === undefined)
  throw new Error('--data and --definition are required');
const { auth } = JSON.parse(readFileSync(values.definition, 'utf8')) as { auth: string };
await addCustomerOf(values.data, auth);
