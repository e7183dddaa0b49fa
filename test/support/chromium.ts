import { execFile, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { installWithApt } from './install.ts';
import { reportMissing } from './missing.ts';
import { lastsAsProcess } from './shared-process/handles.ts';

const exec = promisify(execFile);

const howToGetIt =
  'No Chromium here: `apt-get install chromium`, `brew install --cask chromium`, or set CHROMIUM_PATH.';

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * The program of a Chromium for tests: `CHROMIUM_PATH`, one that is there, or one that is installed now (as root on Debian).
 * Undefined to skip the tests, after saying how to get it; throws there on CI, which never skips them.
 */
export const chromiumForTests = (): Promise<string | undefined> => (searched ??= search());

let searched: Promise<string | undefined> | undefined;

async function search(): Promise<string | undefined> {
  const found = await find();
  if (found) return found;
  if (!process.env.CHROMIUM_PATH) {
    await installWithApt('chromium');
    const installed = await find();
    if (installed) return installed;
  }
  if (process.env.CI === 'true') throw new Error(howToGetIt);
  reportMissing(howToGetIt);
  return undefined;
}

async function find(): Promise<string | undefined> {
  const { CHROMIUM_PATH } = process.env;
  for (const path of CHROMIUM_PATH ? [CHROMIUM_PATH] : places) if (await runs(path)) return path;
  return undefined;
}

const runs = (program: string): Promise<boolean> =>
  exec(program, ['--version']).then(
    () => true,
    () => false,
  );

/** Features that tests do without. The last such flag counts, so those that Playwright turns off are here too. */
const unwanted = [
  // Pages with suggestions, which work beside each page of a test: a quarter of the time of a browser.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

/** A browser without a window, on a profile of its own. */
const launch = (executablePath: string, profile: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    timeout: 60_000,
    // It ends with the process, which takes signals as it does without it.
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      `--disable-features=${unwanted.join(',')}`,
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Shared memory is small in containers.
      '--disable-dev-shm-usage',
    ],
  });

/** Deletes the folder once this process has ended, however it ends. */
function removeAfterwards(folder: string): void {
  const script = 'cat > /dev/null; sleep 1; rm -rf "$1"';
  const stdio = ['pipe', 'ignore', 'ignore'] as const;
  spawn('sh', ['-c', script, 'sh', folder], { stdio: [...stdio], detached: true }).unref();
}

async function startShared(executablePath: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'baton-chromium-'));
  removeAfterwards(profile);
  return (await launch(executablePath, profile)).browser()!;
}

let shared: Promise<Browser> | undefined;

/**
 * A browser context for tests: without cookies, storage and permissions of others. All files of a process share one Chromium,
 * which ends with the process: a start takes as long as a test.
 */
export async function openChromium(
  executablePath: string,
): Promise<{ readonly context: BrowserContext; close(): Promise<void> }> {
  if (!(await shared)?.isConnected()) shared = lastsAsProcess(() => startShared(executablePath));
  const context = await (await shared!).newContext();
  return { context, close: () => context.close() };
}
