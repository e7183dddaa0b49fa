import { defineConfig } from 'vite';

export default defineConfig({
  root: 'page',
  base: '/chat/',
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    target: 'es2023',
    // The hooks say that they are for the browser, which only servers that render pages must know.
    rolldownOptions: {
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
});
