#!/usr/bin/env node
// Stands here so that it exists when a checkout is installed, before the package has been built: npm links nothing else.
await import('../dist/cli/main.js');
