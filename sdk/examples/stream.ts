// Shows an answer as it is written, and looks its cost up afterwards.
import { steyg } from './client.ts';

const stream = steyg.chat.completions.stream({
  model: 'sim-small',
  messages: [{ role: 'user', content: 'Write some words. [[len 40]]' }],
});
for await (const text of stream.text()) process.stdout.write(text);
console.log(`\n${(await stream.cost()).costUsd} USD`);
