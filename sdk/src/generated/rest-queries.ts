// Generated from openapi.json by `npm run generate:sdk`. Do not edit.

/** The parameters of each operation that takes some. */
export const operationQueries = {
  getUsage: ['from', 'to', 'group_by', 'limit', 'cursor', 'list', 'session', 'user', 'tag', 'request_id'],
} as const;
