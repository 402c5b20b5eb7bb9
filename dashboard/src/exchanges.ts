import type { CallCost } from '@steyg/sdk';
import { useEffect, useReducer, useRef } from 'react';
import { createModelClient } from './client.ts';
import { type Play, type PlayRequest, play } from './play.ts';

/** The exchanges of a playground conversation, with their state. */
export interface Exchange {
  id: number;
  request: PlayRequest;
  text: string;
  thinking: string;
  events: unknown[];
  state: 'running' | 'done' | 'stopped' | 'failed';
  error: unknown;
  startedAt: number;
  firstAfterMs: number | null;
  tookMs: number | null;
  /** The charge; null while the ledger does not have it, and for refused requests. */
  cost: CallCost | null;
  requestId: string | null;
}

/** The exchanges of a conversation. Their parts change with every event; the page is drawn again once a frame. */
export function useExchanges(apiKey: string | null) {
  const exchanges = useRef<Exchange[]>([]);
  const running = useRef<Play>(null);
  const next = useRef(0);
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const frame = useRef(0);
  const soon = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(draw);
  };
  useEffect(
    () => () => {
      cancelAnimationFrame(frame.current);
      running.current?.abort();
    },
    [],
  );

  const run = async (request: PlayRequest, secret: string) => {
    const exchange: Exchange = {
      id: next.current++,
      request,
      text: '',
      thinking: '',
      events: [],
      state: 'running',
      error: null,
      startedAt: performance.now(),
      firstAfterMs: null,
      tookMs: null,
      cost: null,
      requestId: null,
    };
    exchanges.current = [...exchanges.current, exchange];
    draw();
    const exchanging = play(createModelClient(location.origin, secret), request);
    running.current = exchanging;
    try {
      for await (const { event, text, thinking } of exchanging.pieces) {
        exchange.firstAfterMs ??= Math.round(performance.now() - exchange.startedAt);
        exchange.events.push(event);
        exchange.text += text;
        exchange.thinking += thinking;
        soon();
      }
      exchange.state = 'done';
    } catch (error) {
      if (exchange.state === 'running') exchange.state = 'failed';
      exchange.error = exchange.state === 'failed' ? error : null;
    }
    exchange.tookMs = Math.round(performance.now() - exchange.startedAt);
    soon();
    // None of this exists for a request that was refused or stopped before its answer began.
    exchange.requestId = await exchanging.requestId().catch(() => null);
    soon();
    if (exchange.requestId === null) return;
    // A stopped or broken answer is charged for its generated part.
    exchange.cost = await exchanging.cost().catch(() => null);
    soon();
  };

  return {
    exchanges: exchanges.current,
    send: (request: PlayRequest) => {
      if (apiKey !== null) void run(request, apiKey);
    },
    drop: (exchange: Exchange) => {
      exchanges.current = exchanges.current.filter((each) => each !== exchange);
    },
    stop: () => {
      const last = exchanges.current.at(-1);
      if (last?.state === 'running') last.state = 'stopped';
      running.current?.abort();
      soon();
    },
    clear: () => {
      exchanges.current = [];
      draw();
    },
  };
}
