import { defineConfig } from 'tsup';

export default defineConfig({
  // What is used of zod goes into the build: imported as a package it comes as ninety files, most of them translations,
  // and doubles the time that a server adds to a start. Its types stay its own, and so does its registry, which is
  // global; its licence is in src.
  noExternal: ['zod'],
  esbuildPlugins: [
    {
      // An entry that others use is imported by them as it is. A chunk for what they share would be a file more to load.
      name: 'shared-entries',
      setup({ onResolve }) {
        onResolve({ filter: /^\.\/(errors|headers|operations|parts)\.ts$/ }, ({ path }) => ({
          path: path.replace(/ts$/, 'js'),
          external: true,
        }));
      },
    },
  ],
});
