import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputError, oldestNode, type Project } from './choices.ts';
import type { Installer } from './installer.ts';

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

/** Every test of a project; one that waits forever fails. */
const runTests = 'node --test --test-timeout=30000 "test/*.test.ts"';

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
  next: ofModel,
  'ai-sdk': ofModel,
  express: `# Who may call: caller:key, separated by commas. A key is the output of "openssl rand -hex 24".
API_KEYS=
# The key that the client uses, one of those.
API_KEY=
# Hosts inside of this network that webhooks may lead to: for trying it, not for production.
# WEBHOOK_HOSTS=localhost:*`,
};

/** What the README says of the model. */
const model = `- \`MODEL_URL\` is the API of the model, such as \`http://127.0.0.1:11434/v1\` of Ollama, with \`MODEL_NAME\` and
  \`MODEL_API_KEY\`. Without it, an echo answers.
`;

/** What the README says of the settings of an agent. */
const settings: Readonly<Record<Project['template'], string>> = {
  plain: '',
  streaming: model,
  chat: `${model}- \`page\` is the page, in React: build it with the script \`page\`, before a container too. It is at \`/chat\`.
`,
  next: model,
  'ai-sdk': model,
  express: `- \`src/app.ts\` is the app of Express: who may call, where webhooks may lead, and your own routes.
- \`API_KEYS\` has the callers and their keys. \`.env\` has one for trying it, which was made for this project.
- The script \`receiver\` sends a message and gets the updates by a webhook.
`,
};

/** What a kind of agent needs besides what all have. */
interface Needs {
  readonly dependencies?: readonly string[];
  readonly devDependencies?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  /** Its own app takes the place of `@batonjs/server-node`. */
  readonly hasOwnApp?: true;
}

const needs: Readonly<Record<Project['template'], Needs>> = {
  plain: {},
  streaming: {},
  chat: {
    dependencies: ['@batonjs/react', 'react', 'react-dom'],
    devDependencies: ['@types/react', '@types/react-dom', 'vite'],
    scripts: { page: 'vite build' },
  },
  next: {
    dependencies: ['@batonjs/react', 'next', 'react', 'react-dom'],
    devDependencies: ['@types/react', '@types/react-dom'],
    scripts: { build: 'next build', dev: 'next dev', start: 'next start' },
    hasOwnApp: true,
  },
  'ai-sdk': { dependencies: ['@ai-sdk/openai-compatible', '@batonjs/ai-sdk', 'ai', 'zod'] },
  express: {
    dependencies: ['@batonjs/auth', '@batonjs/server-express', 'express'],
    devDependencies: ['@types/express'],
    scripts: { receiver: 'node --env-file-if-exists=.env src/receiver.ts', test: runTests },
    hasOwnApp: true,
  },
};

/** What this package does not need for its own tests. */
const larger: Readonly<Record<string, string>> = { next: '^16.4.6' };

/** The folders of a kind of agent. Later ones replace files of earlier ones. */
const foldersOf: Readonly<Record<Project['template'], readonly string[]>> = {
  plain: ['plain'],
  streaming: ['streaming'],
  chat: ['streaming', 'chat'],
  next: ['streaming', 'next'],
  'ai-sdk': ['ai-sdk'],
  express: ['plain', 'express'],
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
  const folders = ['shared', ...foldersOf[template].map((folder) => `agents/${folder}`), `stores/${store}`];
  const files = new Map<string, string>([['package.json', manifest(name, { store, template })]]);
  // A key of its own, so that it starts at once and is open to no one else.
  if (template === 'express') files.set('.env', ownKey(randomBytes(24).toString('hex')));
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

const ownKey = (key: string): string =>
  `API_KEYS=me:${key}\nAPI_KEY=${key}\n# For trying webhooks on one machine.\nWEBHOOK_HOSTS=localhost:*\n`;

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
    Object.fromEntries(
      [...new Set(names)].sort().map((each) => [each, larger[each] ?? own.devDependencies[each]]),
    );
  const kept = `@batonjs/store-${store}`;
  const { dependencies = [], devDependencies = [], scripts, hasOwnApp } = needs[template];
  const served = hasOwnApp ? [] : ['@batonjs/server-node'];
  const forTests = [
    '@batonjs/store-memory',
    '@batonjs/testing',
    '@types/node',
    'typescript',
    ...devDependencies,
  ].filter((each) => each !== kept);
  return `${JSON.stringify(
    {
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      engines: { node: `>=${oldestNode}` },
      scripts: {
        // The process itself gets the signals.
        start: 'node --env-file-if-exists=.env src/main.ts',
        dev: 'node --env-file-if-exists=.env --watch src/main.ts',
        client: 'node --env-file-if-exists=.env src/client.ts',
        test: runTests,
        check: 'tsc',
        ...scripts,
      },
      dependencies: versions('@batonjs/client', '@batonjs/server', ...served, kept, ...dependencies),
      devDependencies: versions(...forTests),
    },
    undefined,
    2,
  )}\n`;
}

/** The most characters of a package's name. */
const longest = 214;
const refused: readonly string[] = ['node_modules', 'favicon.ico'];

/**
 * The name of the package in a folder below the working folder, which is the folder's own; that of the working folder for
 * `.`. Throws an `InputError` for a path, which could lead out of the working folder, and where no package may have the name.
 */
export function projectName(folder: string): string {
  const name = folder === '.' ? basename(resolve(folder)) : folder;
  if (name === '') throw new InputError('This folder has no name: choose one below it');
  if (/[/\\]/.test(name) || name === '..')
    throw new InputError(`"${name}" is a path: give the name of a new folder, or "." for this one`);
  if (name.length > longest)
    throw new InputError(`A name has at most ${longest} characters, not ${name.length}`);
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name) || refused.includes(name) || builtinModules.includes(name))
    throw new InputError(
      `"${name}" cannot be the name of a package: use lower-case letters, digits, ".", "-" and "_", a letter or digit first`,
    );
  return name;
}

/** The name for people: `my-agent` is `My agent`. */
export const titleOf = (name: string): string => {
  const words = name
    .split(/[._-]+/)
    .filter(Boolean)
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
