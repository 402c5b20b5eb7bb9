import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { Refusals } from '../errors.ts';
export interface UsageParts {
  pool: Pool;
  refusals: Refusals;
}
export function registerUsageRoutes(_app: FastifyInstance, _parts: UsageParts): void {}
