/** A process that issues the invoices that are due, to be killed in the middle. */

import { openPool } from '../../server/database/pool.ts';
import { createInvoices } from '../../server/plans/papers/invoices.ts';
import { createSepayEinvoice } from '../../server/plans/papers/sepay-einvoice.ts';
import { credentials } from './einvoice-provider.ts';

const [databaseUrl = '', baseUrl = ''] = process.argv.slice(2);
const log = { warn() {}, error() {}, info() {} };
const pool = openPool({ url: databaseUrl, name: 'test', max: 2, log });
await createInvoices({ pool, provider: createSepayEinvoice({ ...credentials, baseUrl }), log }).issueDue();
await pool.end();
