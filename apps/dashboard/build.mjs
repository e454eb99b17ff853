// Builds the web page: dist/apps/dashboard, which the operator API serves.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build as bundle } from 'vite';

export const build = () =>
  bundle({
    root: import.meta.dirname,
    logLevel: 'warn',
    // Our own packages, by their sources.
    resolve: { conditions: ['source', 'module', 'browser', 'import', 'default'] },
    build: {
      outDir: resolve(import.meta.dirname, '../../dist/apps/dashboard'),
      emptyOutDir: true,
      // Inlined, an icon would need a policy that lets data in.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
