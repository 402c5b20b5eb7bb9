/** Serves a model file over the chat completions protocol: `node serve.ts PACKAGES MODEL`. Prints its port when it is ready. */

import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface InferencePackage {
  InferenceServer: new (options: object) => { start(): Promise<void> };
  createExpressServer: (inference: unknown) => Server;
}

const [packages = '', model = ''] = process.argv.slice(2);
const entry = pathToFileURL(join(packages, 'node_modules/inference-server/dist/index.js')).href;
const { InferenceServer, createExpressServer } = (await import(entry)) as InferencePackage;
const inference = new InferenceServer({
  concurrency: 1,
  models: {
    tiny: {
      task: 'text-completion',
      engine: 'node-llama-cpp',
      location: model,
      // The file is there, so that nothing is fetched from here.
      url: 'https://models.invalid/tiny.gguf',
      contextSize: 2_048,
      prepare: 'blocking',
      device: { gpu: false, cpuThreads: 1 },
    },
  },
});
const server = createExpressServer(inference);
await inference.start();
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
