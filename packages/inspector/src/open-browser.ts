import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file that leads a browser to an address. */
export interface OpenedFile {
  readonly path: string;
  remove(): void;
}

/** Starts the program that opens a file in the person's browser. */
export type StartBrowser = (command: string, args: readonly string[]) => unknown;

/**
 * Opens an address that holds a token in the person's browser, by a file that only this user can read: other users see the
 * arguments of every process. Where no browser can be started, nothing happens.
 */
export function openBrowser(
  address: string,
  start: StartBrowser = startDetached,
  platform: NodeJS.Platform = process.platform,
): OpenedFile {
  const folder = mkdtempSync(join(tmpdir(), 'inspector-'));
  const path = join(folder, 'open.html');
  writeFileSync(path, pageTo(address), { mode: 0o600, flag: 'wx' });
  const [command, ...args] =
    platform === 'darwin'
      ? ['open', path]
      : platform === 'win32'
        ? ['cmd', '/c', 'start', '', path]
        : ['xdg-open', path];
  start(command!, args);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const pageTo = (address: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Inspector</title>
<meta http-equiv="refresh" content="0;url=${address.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">
`;

function startDetached(command: string, args: readonly string[]): void {
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  child.on('error', () => {}).unref();
}
