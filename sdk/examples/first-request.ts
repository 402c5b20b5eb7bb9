// Asks a model once, and says what the answer cost.
import { steyg } from './client.ts';

const message = await steyg.messages.create({
  model: 'sim-small',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'ping' }],
});
for (const block of message.content) if (block.type === 'text') console.log(block.text);
console.log(`${message.steyg.costUsd} USD, request ${message.steyg.requestId}`);
