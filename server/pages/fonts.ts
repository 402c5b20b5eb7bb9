import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { fontAddress, fontFaces } from '../shared/page.ts';

/** The files of the pages' face: of this server, so that no other host learns of a visit. Their addresses have their version. */
export async function registerFonts(app: FastifyInstance): Promise<void> {
  for (const { name } of fontFaces) {
    const file = `@fontsource/be-vietnam-pro/files/be-vietnam-pro-${name}-normal.woff2`;
    const bytes = await readFile(fileURLToPath(import.meta.resolve(file)));
    app.get(fontAddress(name), (_request, reply) =>
      reply
        .headers({ 'content-type': 'font/woff2', 'cache-control': 'public, max-age=31536000, immutable' })
        .send(bytes),
    );
  }
}
