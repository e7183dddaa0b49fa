import { defineConfig } from 'vite';

// The page. Paths are relative: it is served below any mount.
export default defineConfig({
  root: 'src/app',
  base: './',
  resolve: { conditions: ['@batonjs/source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: '../../dist/app',
    emptyOutDir: true,
    target: 'es2023',
    // Inlined assets would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The hooks say that they are for the browser, which only servers that render pages must know.
    rolldownOptions: {
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
});
