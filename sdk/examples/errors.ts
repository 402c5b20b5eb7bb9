// Runs into a refusal, and reads from it what to do.
import { ApiError } from '@steyg/sdk';
import { steyg } from './client.ts';

try {
  await steyg.messages.create({
    model: 'no-such-model',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'ping' }],
  });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.log(error.status, error.code, error.message);
}
