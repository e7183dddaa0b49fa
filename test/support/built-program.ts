import { existsSync, globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { root } from '../repository/source-files.ts';
import { builtOnce } from './built-once.ts';

/** The programs that tests and commands start more than twice. They are built together: most of each is in all of them. */
const programs = [
  'apps/{assistant,boat-designer,concierge,currency,expense-agent,task-service,trip-planner}/src/{converse,main}.ts',
  'apps/chat/test/chat-process.ts',
  'apps/gallery/src/main.ts',
  'apps/gallery/test/slow-gallery.ts',
  'packages/ag-ui/test/handlers-process.ts',
  'packages/ai-sdk/test/killed/agent-process.ts',
  'packages/bindings-websocket/test/server-process.ts',
  'packages/cli/src/main.ts',
  'packages/mcp/test/stdio/stdio-program.ts',
  'packages/mcp/test/{tasks/killed/server-process,tools/killed/agent-process}.ts',
  'packages/nested-tasks/test/killed/{child,parent}.ts',
  'packages/server/test/bare/work-until-closed.ts',
  'packages/server/test/turns/retries/die-at-commit.ts',
  'packages/server/test/webhooks/kit/{deliver-until-killed,work-without}.ts',
  'packages/transactions/test/turns/paying-process.ts',
  'test/closing/call-process.ts',
  'scripts/{chaos/server,file-kills/process,fuzz/server,gateway-chaos/gateway,ledger/bank-process,scaling/worker}.ts',
  'scripts/usage-kills/agent.ts',
  'test/later/{accept,begin,fork}-then-die.ts',
  'test/later/{cancel-many,erase-and-fork,run-due,serve-recurring,serve-versioned,spend}.ts',
  'test/support/{store-process,where-it-stands}.ts',
];

/** What they may be made of: no program imports a test. */
const sources = ['{packages,apps}/*/{src,test}/**/!(*.test).ts', '{scripts,test}/**/!(*.test).ts'];

/** What a source is built as. `path`: below the root. */
export type ChangeSource = (path: string, text: string) => string;

const below = (file: string): string => relative(root, file).replaceAll('\\', '/');

/** Each source still knows where it stands. */
const places = (change: ChangeSource): Plugin => ({
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const contents = change(below(path), await readFile(path, 'utf8'))
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(path).href))
        .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(path)));
      return { contents, loader: 'ts' };
    });
  },
});

/** What programs of CommonJS in the files need. */
const commonJs = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(${JSON.stringify(join(root, 'package.json'))});`;

/**
 * A program and all that it imports, built from the sources as they are now: loading some hundred sources takes most of the
 * time of a start. Resolves to the place of its file. Rejects if the program is not among those above.
 */
export async function builtProgram(program: URL): Promise<string> {
  const path = below(fileURLToPath(program));
  const file = join(await builtPrograms('programs', programs), path.replace(/\.ts$/, '.mjs'));
  if (!existsSync(file))
    throw new Error(`${path} is not among the programs of test/support/built-program.ts`);
  return file;
}

/** A folder with programs, as `builtProgram` builds them. `change`: makes other sources of those that are there. */
export const builtPrograms = (
  name: string,
  entries: readonly string[],
  change: ChangeSource = (_path, text) => text,
): Promise<string> =>
  builtOnce(name, sources, (outdir) =>
    build({
      absWorkingDir: root,
      entryPoints: globSync(entries, { cwd: root }),
      outdir,
      outbase: root,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      target: 'es2024',
      conditions: ['@batonjs/source'],
      external: ['better-sqlite3', 'esbuild', 'pg-native'],
      banner: { js: commonJs },
      plugins: [places(change)],
      logLevel: 'silent',
    }),
  );
