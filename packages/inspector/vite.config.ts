import { defineConfig } from 'vite';

// The app of the inspector. Paths are relative: it is served below any mount.
export default defineConfig({
  root: 'src/app',
  base: './',
  resolve: { conditions: ['@batonjs/source', 'module', 'browser', 'production'] },
  // As it is published, also when tests build it, whose NODE_ENV is another one.
  oxc: { jsx: { development: false } },
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    outDir: '../../dist/app',
    emptyOutDir: true,
    target: 'es2023',
    // Inlined assets would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A name that begins with "license" would pass for the license of the package when it is packed.
    license: { fileName: 'third-party.md' },
  },
});
