import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oldestNode, type Project } from './choices.ts';
import type { Installer } from './installer.ts';
import { titleOf } from './project-name.ts';

const packageRoot = new URL('../', import.meta.url);

/** npm leaves these out of packages under their real names. */
const renamed: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  dockerignore: '.dockerignore',
  'env.example': '.env.example',
};

/** Folders whose names begin with a dot in a project. */
const hiddenFolder = /^(agents|github)(?=\/)/;

/** Services that the compose file starts beside the agent. */
const services: Readonly<Record<Project['store'], string>> = {
  memory: '',
  sqlite: '',
  redis: ', and Redis',
  postgres: ', and PostgreSQL',
};

/** The settings of a store in `.env.example`. */
const variables: Readonly<Record<Project['store'], string>> = {
  memory: '',
  sqlite: '# DATABASE_FILE=data/tasks.db',
  redis: '# REDIS_URL=redis://127.0.0.1:6379',
  postgres: '# DATABASE_URL=postgres://postgres:postgres@127.0.0.1:5432/postgres',
};

const ofModel = '# MODEL_URL=http://127.0.0.1:11434/v1\n# MODEL_NAME=llama3.2\n# MODEL_API_KEY=';

/** The settings of a kind of agent there. */
const ofAgent: Readonly<Record<Project['template'], string>> = {
  plain: '',
  streaming: ofModel,
  chat: ofModel,
};

/** What the README says of the model. */
const model = `- \`MODEL_URL\` is the API of the model, such as \`http://127.0.0.1:11434/v1\` of Ollama, with \`MODEL_NAME\` and
  \`MODEL_API_KEY\`. Without it, an echo answers. In a container, they go under \`environment\` of \`compose.yaml\`.
`;

/** What the README says of the settings of an agent. */
const settings: Readonly<Record<Project['template'], string>> = {
  plain: '',
  streaming: model,
  chat: `${model}- \`page\` is the page, in React: build it with the script \`page\`, before a container too. It is at \`/chat\`.
`,
};

/** The files of a project by their path in it, with `/`. Its README runs scripts as the installer does. */
export function projectFiles(
  name: string,
  { store, template }: Pick<Project, 'store' | 'template'>,
  installer: Installer,
): ReadonlyMap<string, string> {
  const values: Readonly<Record<string, string>> = {
    name,
    title: titleOf(name),
    run: installer.run,
    services: services[store],
    settings: settings[template],
    node: oldestNode,
    frozen: installer.frozen,
    variables: [variables[store], ofAgent[template]]
      .filter(Boolean)
      .map((line) => `${line}\n`)
      .join(''),
  };
  // The chat is the streaming agent with a page. Later folders replace files of earlier ones.
  const agents = template === 'chat' ? ['agents/streaming', 'agents/chat'] : [`agents/${template}`];
  const folders = ['shared', ...agents, `stores/${store}`];
  const files = new Map<string, string>([['package.json', manifest(name, { store, template })]]);
  // pnpm refuses packages with an install script that it was not told about: tsx brings esbuild.
  if (installer.name === 'pnpm') files.set('pnpm-workspace.yaml', 'allowBuilds:\n  esbuild: true\n');
  for (const folder of folders) {
    const root = fileURLToPath(new URL(`templates/${folder}/`, packageRoot));
    for (const path of filesBelow(root)) {
      const text = readFileSync(join(root, path), 'utf8');
      files.set(
        renamed[path] ?? path.replace(hiddenFolder, '.$1'),
        text.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => values[key] ?? ''),
      );
    }
  }
  return files;
}

function filesBelow(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

/**
 * The manifest of a project. Its versions are those of this package's own `devDependencies`, which name the releases of
 * the workspace once this package is packed.
 */
function manifest(name: string, { store, template }: Pick<Project, 'store' | 'template'>): string {
  const own = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8'));
  const versions = (...names: readonly string[]) =>
    Object.fromEntries([...new Set(names)].sort().map((each) => [each, own.devDependencies[each]]));
  const kept = `@batonjs/store-${store}`;
  const isChat = template === 'chat';
  const ofPage = isChat ? ['@batonjs/react', 'react', 'react-dom'] : [];
  const forPage = isChat ? ['@types/react', '@types/react-dom', 'vite'] : [];
  const forTests = ['@batonjs/store-memory', '@types/node', 'tsx', 'typescript', ...forPage].filter(
    (each) => each !== kept,
  );
  return `${JSON.stringify(
    {
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      engines: { node: `>=${oldestNode}` },
      scripts: {
        // The process itself gets the signals.
        start: 'node --env-file-if-exists=.env --import tsx src/main.ts',
        dev: 'node --env-file-if-exists=.env --import tsx --watch src/main.ts',
        client: 'node --import tsx src/client.ts',
        test: 'node --import tsx --test test/agent.test.ts',
        check: 'tsc',
        ...(isChat && { page: 'vite build' }),
      },
      dependencies: versions('@batonjs/client', '@batonjs/server', '@batonjs/server-node', kept, ...ofPage),
      devDependencies: versions(...forTests),
    },
    undefined,
    2,
  )}\n`;
}
