/** How the package manager that started this program installs and runs. */
export interface Installer {
  readonly install: string;
  /** What comes before the name of a script. */
  readonly run: string;
  /** Installs exactly the versions of the lock file, on a machine for CI that has npm alone. */
  readonly frozen: string;
}

const frozen: Readonly<Record<string, string>> = {
  npm: 'npm ci',
  pnpm: 'npx -y pnpm install --frozen-lockfile',
  yarn: 'corepack enable && yarn install --immutable',
  bun: 'npx -y bun install --frozen-lockfile',
};

/** The package manager by `npm_config_user_agent`, such as `pnpm/10.0.0 npm/? node/v24`; npm where it is not known. */
export function installerOf(userAgent = ''): Installer {
  const name = ['pnpm', 'yarn', 'bun'].find((other) => userAgent.startsWith(`${other}/`)) ?? 'npm';
  return { install: `${name} install`, run: `${name} run`, frozen: frozen[name] ?? 'npm ci' };
}
