import type { builder, ObjectFields } from '../builder.ts';

/** The limits of pace, which keys and accounts have alike: fields, members of inputs, and the reading of these. */

interface Pace {
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  maxConcurrent: number | null;
  addresses: readonly string[];
}

/** The makers of plain fields, which objects of Prisma and others have alike. */
type PlainFields<Shape> = Pick<ObjectFields<Shape>, 'int' | 'stringList'>;

/** `requests`: the description of `requestsPerMinute`. */
export const paceFields = <Shape extends Pace>(t: PlainFields<Shape>, requests: string) => ({
  requestsPerMinute: t.int({
    nullable: true,
    description: requests,
    resolve: ({ requestsPerMinute }: Shape) => requestsPerMinute,
  }),
  tokensPerMinute: t.int({
    nullable: true,
    description: 'Tokens of prompts and answers that it may use in a minute; null: no limit.',
    resolve: ({ tokensPerMinute }: Shape) => tokensPerMinute,
  }),
  maxConcurrent: t.int({
    nullable: true,
    description: 'Requests that it may run at once; null: the limit of the service.',
    resolve: ({ maxConcurrent }: Shape) => maxConcurrent,
  }),
  addresses: t.stringList({
    description: 'Networks (CIDR) or addresses that it may be used from; empty: all.',
    resolve: ({ addresses }: Shape) => [...addresses],
  }),
});

/** `requests`: the description of `requestsPerMinute`. */
export const paceInputs = (
  t: PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>,
  requests: string,
) => ({
  requestsPerMinute: t.int({ description: requests }),
  tokensPerMinute: t.int({ description: 'Tokens that it may use in a minute; null: no limit.' }),
  maxConcurrent: t.int({ description: 'Requests that it may run at once; null: the limit of the service.' }),
  addresses: t.stringList({ description: 'Networks (CIDR) or addresses that it may be used from; empty: all.' }),
});

interface PaceInput {
  tokensPerMinute?: number | null | undefined;
  maxConcurrent?: number | null | undefined;
  addresses?: readonly string[] | null | undefined;
}

/** The limits of pace that an input names. */
export function paceOf({ tokensPerMinute, maxConcurrent, addresses }: PaceInput) {
  return {
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(addresses === undefined || addresses === null ? {} : { addresses }),
  };
}
