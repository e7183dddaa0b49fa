import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { reportMissing } from './missing.ts';

const exec = promisify(execFile);
const apt = (name: string) => `apt-get install -y --no-install-recommends ${name}`;
const fromRelease = (name: string) => `${apt(name)} || { apt-get update && ${apt(name)}; }`;

/**
 * Debian's backports of this release, from the mirror that this machine uses: what the release itself came too early for.
 * They are no source of other packages afterwards.
 */
const fromBackports = (name: string) => `
. /etc/os-release
release="$VERSION_CODENAME"
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
  sed -n "s/ $release\\$//p" | head -n 1)
list=$(mktemp)
trap 'rm -f "$list"; apt-get update' EXIT
cat /etc/apt/sources.list > "$list" 2>/dev/null
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] && signed="[signed-by=$keyring] "
echo "deb $signed$mirror $release-backports main" >> "$list"
apt-get -o Dir::Etc::sourcelist="$list" update
${apt(name).replace('apt-get', 'apt-get -o Dir::Etc::sourcelist="$list"')}`;

export interface InstallOptions {
  /** Looks in the backports too, if the release does not have the package. */
  readonly backports?: boolean;
}

/**
 * Installs a package of Debian if this is root there. Test files run at once, so one waits for the other. Resolves whether
 * or not it worked: check for the program afterwards.
 */
export async function installWithApt(
  name: string,
  { backports = false }: InstallOptions = {},
): Promise<void> {
  const runs = await exec('apt-get', ['--version']).catch(() => undefined);
  if (process.getuid?.() !== 0 || !runs) return;
  const release = fromRelease(name);
  const script = backports ? `{ ${release}; } || { ${fromBackports(name)}\n}` : release;
  await exec('flock', [join(tmpdir(), 'baton-apt.lock'), 'sh', '-c', script], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: unknown) => reportMissing(`Installing ${name} did not work: ${firstLineOf(error)}.`));
}

const firstLineOf = (error: unknown): string => String(error).split('\n', 1)[0]!;
