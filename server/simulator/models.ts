/** The lists of models in the vendors' shapes. */

import type { VendorDialect } from './dialects/dialect.ts';
import type { ParsedObject } from './json.ts';

/** 2026-01-01, so that the list reads the same on every machine. */
const CREATED_SECONDS = 1_767_225_600;

function displayName(id: string): string {
  return id.replace(/^sim-/, 'Simulated ');
}

/** One model in the shape of the requested protocol's vendor. */
export function modelObject(id: string, dialect: VendorDialect): ParsedObject {
  return dialect.protocol === 'messages'
    ? { type: 'model', id, display_name: displayName(id), created_at: new Date(CREATED_SECONDS * 1000).toISOString() }
    : { id, object: 'model', created: CREATED_SECONDS, owned_by: 'simulator' };
}

/** The list of models in the shape of the requested protocol's vendor. */
export function playedModels(ids: readonly string[], dialect: VendorDialect): ParsedObject {
  const data = ids.map((id) => modelObject(id, dialect));
  return dialect.protocol === 'messages'
    ? { data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null }
    : { object: 'list', data };
}
