import { build } from 'esbuild';

/** One file with all that the functions need. */
await build({
  entryPoints: ['src/lambda.ts'],
  outfile: 'dist/lambda.mjs',
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // An optional part of pg that is compiled.
  external: ['pg-native'],
  // Drivers of databases load modules of Node.js with `require`.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
