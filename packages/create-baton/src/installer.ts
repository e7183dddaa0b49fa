export type Installer = Readonly<ReturnType<typeof installerOf>>;

/** Installs exactly the versions of the lock file, on a machine for CI that has npm alone. */
const frozen: Readonly<Record<string, string>> = {
  npm: 'npm ci',
  pnpm: 'npx -y pnpm install --frozen-lockfile',
  yarn: 'corepack enable && yarn install --immutable',
  bun: 'npx -y bun install --frozen-lockfile',
};

/**
 * How the package manager installs and runs that started this program, by `npm_config_user_agent`, such as
 * `pnpm/10.0.0 npm/? node/v24`; npm where it is not known. `run`: what comes before the name of a script.
 */
export function installerOf(userAgent = '') {
  const name = ['pnpm', 'yarn', 'bun'].find((other) => userAgent.startsWith(`${other}/`)) ?? 'npm';
  return { install: `${name} install`, run: `${name} run`, frozen: frozen[name] ?? 'npm ci' };
}
