import { BudgetError, Steyg } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let steyg: Steyg;

beforeAll(async () => {
  app = await startApp();
  const { secret } = await app.customer();
  steyg = new Steyg({ baseUrl: app.baseUrl, apiKey: secret });
});
afterAll(() => app.close());

const said = (text: string) => ({
  model: 'sim-small',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: text }],
});

describe('messages', () => {
  it('answers', async () => {
    const message = await steyg.messages.create(said('[[say Xin chào]]'));
    expect(message.content).toEqual([expect.objectContaining({ type: 'text', text: 'Xin chào' })]);
    expect(message.steyg.costUsd).toMatch(/^\d/);
  });
  it('streams', async () => {
    const stream = steyg.messages.stream(said('[[say Xin chào]]'));
    expect(await stream.finalText()).toBe('Xin chào');
  });
  it('budget', async () => {
    const { secret } = await app.customer({ usd: '0' });
    const poor = new Steyg({ baseUrl: app.baseUrl, apiKey: secret });
    await expect(poor.messages.create(said('hi'))).rejects.toThrow(BudgetError);
  });
});
