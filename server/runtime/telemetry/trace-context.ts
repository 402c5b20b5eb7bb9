import type { IncomingHttpHeaders } from 'node:http';

/** A request's place in a trace, as the W3C recommendation "Trace Context" writes it into two headers. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** The caller's span: 16 hexadecimal digits. */
  spanId: string;
  sampled: boolean;
  /** Lists of other systems, which are passed on unread; null: none. */
  state: string | null;
}

const parent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The recommendation asks for at least this much to be passed on. */
const maxStateBytes = 512;

/** The caller's context; null for none, for one that is malformed, and for two that contradict each other. */
export function readTraceContext({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | null {
  if (typeof traceparent !== 'string') return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = parent.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  return {
    traceId,
    spanId,
    sampled: (Number.parseInt(flags, 16) & 1) === 1,
    state: state !== undefined && state.length <= maxStateBytes && /^[\x20-\x7e]+$/.test(state) ? state : null,
  };
}

/** The headers that hand a context to the next server. */
export function traceHeaders({ traceId, spanId, sampled, state }: TraceContext): Record<string, string> {
  return {
    traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
    ...(state === null ? {} : { tracestate: state }),
  };
}
