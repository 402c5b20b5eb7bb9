import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** How the dashboard is built, and served while it is worked on. */
export default defineConfig(({ isSsrBuild = false }) => ({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: {
    // Preact runs what is written for React, in a sixth of its size: React alone would be half of a first visit's script.
    // On the server React itself renders.
    alias: isSsrBuild
      ? []
      : [
          { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
          { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
          { find: /^react(-dom)?$/, replacement: 'preact/compat' },
        ],
  },
  // `npm run dev` of Vite beside a running server: same-origin for the page, so that the session's cookie works.
  server: {
    proxy: {
      '^/(api|graphql|downloads|status|pricing|docs|fonts|llms)\\b': `http://127.0.0.1:${process.env['PORT'] ?? 8787}`,
    },
  },
  build: {
    target: 'es2023',
    assetsDir: 'assets',
    // The Content-Security-Policy lets no resource hide in an address, and a file is cached for ever.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      // The server has the files of the face, for the pages that it makes as well.
      external: /^\/fonts\//,
      output: {
        // The small parts of a customer's first page compress better as one file than as ten.
        codeSplitting: isSsrBuild
          ? false
          : {
              groups: [
                {
                  name: 'parts',
                  test: /src\/(components\/(moment|usd|table|entries|lots|chart)|money|hooks|usage|known)\.tsx?$/,
                },
              ],
            },
      },
    },
  },
}));
