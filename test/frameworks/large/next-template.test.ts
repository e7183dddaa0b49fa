import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Command, freePort, node, run } from '../../kit/processes.ts';
import { root } from '../../repository/source-files.ts';
import { chromiumForTests, openChromium } from '../../support/chromium.ts';

const execute = promisify(execFile);
const executablePath = await chromiumForTests();

/** What `npm install` does, with the packages of this repository and the Next.js of the recipe. */
function install(project: string): void {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const places = ['test/frameworks/large/next', 'packages/create-baton', '.'];
    const path = join(project, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(places.map((place) => join(root, place, 'node_modules', name)).find(existsSync)!, path);
  }
}

describe.skipIf(!executablePath)('the template of Next.js', { timeout: 600_000 }, () => {
  it('is built, gives each visitor a session, and goes on after a reload and a kill', async () => {
    const folder = mkdtempSync(join(import.meta.dirname, '.template-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const create = join(root, 'packages/create-baton/src/main.ts');
    await execute(node, [create, 'shop', '--template', 'next', '--store', 'sqlite'], { cwd: folder });
    const cwd = join(folder, 'shop');
    install(cwd);
    // The packages are links into this repository: an app that installed them needs no `root`.
    const config = `import own from './next.config.own.ts'; export default { ...own, turbopack: { root: ${JSON.stringify(root)} } };`;
    writeFileSync(join(cwd, 'next.config.own.ts'), readFileSync(join(cwd, 'next.config.ts')));
    writeFileSync(join(cwd, 'next.config.ts'), config);
    const PORT = String(await freePort());
    const next = (...args: string[]) =>
      run(node, [join(cwd, 'node_modules/next/dist/bin/next'), ...args], {
        cwd,
        env: { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', PORT },
      });
    await using build = next('build');
    if ((await build.ended) !== 0) throw new Error(build.output);
    expect(existsSync(join(cwd, 'data'))).toBe(false);

    let app: Command | undefined;
    onTestFinished(() => app?.[Symbol.asyncDispose]());
    const start = async () => {
      app = next('start');
      await app.until(/Ready/);
    };
    await start();
    const origin = `http://localhost:${PORT}`;
    expect((await fetch(`${origin}/readyz`)).status).toBe(200);
    const card = await fetch(`${origin}/api/agent/.well-known/agent-card.json`);
    expect(card.status).toBe(200);
    const refused = await fetch(`${origin}/api/agent/tasks`, { headers: { 'a2a-version': '1.0' } });
    expect(refused.status).toBe(401);

    const browser = await openChromium(executablePath!);
    onTestFinished(() => browser.close());
    const page = await browser.context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(origin);
    await page.getByRole('heading', { name: 'Shop' }).first().waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForFunction(() => location.hash.length > 1);
    await page.reload();
    await page.locator('article').getByText('You said: Hello').waitFor();
    const [session] = await browser.context.cookies(origin);
    expect(session).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Lax' });
    app!.signal('SIGKILL');
    await app!.ended;
    await start();
    await page.reload();
    await page.locator('article').getByText('You said: Hello').waitFor();
    await using client = run(node, ['src/client.ts', 'Hi'], { cwd, env: { AGENT_URL: origin } });
    expect(await client.ended).toBe(0);
    expect(client.output).toContain('You said: Hi');
    // The visitor sees nothing of the other session.
    await page.reload();
    await page.getByRole('navigation').getByRole('listitem').waitFor();
    expect(problems).toEqual([]);
  });
});
