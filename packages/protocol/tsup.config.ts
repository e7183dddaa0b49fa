import { defineConfig } from 'tsup';

export default defineConfig({
  // The build includes the parts of zod that it uses. Imported as a package, zod loads ninety files, most of them
  // translations, and doubles the time that a server adds to a start. The types still come from the package, and zod's
  // registry is global in the process. Its licence is in src.
  noExternal: ['zod'],
  esbuildPlugins: [
    {
      // Entries import these entries as they are. A chunk with the shared code would be one more file to load.
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
