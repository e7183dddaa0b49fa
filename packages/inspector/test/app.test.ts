import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { connect } from '@batonjs/client';
import { catalogOf } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { until } from '../../../test/kit/until.ts';
import { chromiumForTests } from '../../../test/support/chromium.ts';
import { type Action, actions } from '../src/api/agent.ts';
import { createInspector } from '../src/inspector.ts';
import { token } from './inspected-servers.ts';
import { type OpenedApp, openApp } from './open-app.ts';

const executablePath = await chromiumForTests();

describe.skipIf(!executablePath)('the app of the inspector', () => {
  let app: OpenedApp;
  beforeAll(async () => {
    app = await openApp(executablePath!, Object.keys(actions) as Action[]);
  }, 300_000);
  afterAll(() => app.close());

  const entry = (text: string | RegExp) => app.rows('Timeline').filter({ hasText: text }).first();
  const heading = (name: string) => app.page.getByRole('heading', { name, exact: true });

  it('opens at the printed address, takes the token out of it, and asks for it without it', async () => {
    const { page, served } = app;
    expect(page.url()).not.toContain('token');
    // Agents are called as their cards call them.
    for (const name of ['Show far', 'Old']) await page.getByRole('link', { name, exact: true }).waitFor();
    const other = await page.context().newPage();
    // A second tab of the same browser has the token. Without it, it is asked for.
    await other.goto(`${served.url}/inspector`);
    await other.getByRole('link', { name: 'Show', exact: true }).waitFor();
    await other.evaluate(() => {
      for (const key of Object.keys(localStorage)) if (key.includes('token')) localStorage.removeItem(key);
    });
    await other.reload();
    await other.getByText('The token is missing or wrong').waitFor();
    await other.getByRole('textbox').fill(served.address);
    await other.getByRole('button', { name: 'Open' }).click();
    await other.getByRole('link', { name: 'Show', exact: true }).waitFor();
    await other.close();
  });

  it('shows the name on a card that comes later than the app', async () => {
    const page = await app.page.context().newPage();
    let isSlow = true;
    await page.route('**/api/session', async (route) => {
      const response = await route.fetch();
      const session = await response.json();
      const far = session.agents.find(({ id }: { id: string }) => id === 'far');
      if (isSlow) Object.assign(far, { name: 'far', description: undefined });
      await route.fulfill({ response, json: session });
    });
    await page.goto(app.served.address);
    await page.getByRole('link', { name: 'far', exact: true }).waitFor();
    isSlow = false;
    await page.getByRole('link', { name: 'Show far', exact: true }).waitFor();
    await page.close();
  });

  it('1 shows the card of an agent: checks, interfaces, skills and JSON', async () => {
    const { page, go, checkAccess, picture } = app;
    await go('#/agents/far/card');
    await page.getByText('Fits the schema of A2A 1.0').waitFor();
    await page.getByText('Not signed').waitFor();
    const table = page.getByRole('table');
    expect(await table.getByRole('row').allInnerTexts()).toEqual([
      expect.stringContaining('Binding'),
      expect.stringMatching(/JSONRPC\s+1\.0.*in use/s),
      expect.stringMatching(/HTTP\+JSON\s+1\.0.*Use this one/s),
      expect.stringMatching(/GRPC\s+1\.0.*Use this one/s),
    ]);
    await heading('Skills').waitFor();
    await page.getByText('Converts an amount.').waitFor();
    await page.getByRole('button', { name: 'Copy JSON' }).waitFor();
    await checkAccess();
    await picture('1-card');
    await table.getByRole('row', { name: 'GRPC' }).getByRole('button').click();
    await table.getByRole('row', { name: 'GRPC' }).getByText('in use').waitFor();
  });

  it('1 says why a card cannot be read', async () => {
    const { page, go } = app;
    await go('#/fleet');
    await page.getByRole('textbox', { name: 'Address of an agent' }).fill(`${app.served.url}/nothing`);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('answers 404').waitFor();
    await page.getByText('INVALID_CARD').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
  });

  it('1 offers the agents that a host lists', async () => {
    const { page, go } = app;
    await go('#/fleet');
    const listed = ['expenses', 'weather'].map((name) => ({
      name,
      url: `/${name}`,
      description: `Is ${name}`,
    }));
    const host = await listen(createServer(nodeHandler(catalogOf(listed))));
    await page.getByRole('textbox', { name: 'Address of an agent' }).fill(host);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const offered = page.getByRole('list', { name: 'Agents of this host' });
    await offered.getByText('Is expenses').waitFor();
    await offered.getByRole('button', { name: 'weather' }).click();
    await page.getByText(`${host}/weather/.well-known/agent-card.json answers 404`).waitFor();
  });

  it('2 lists tasks as they change, by state, age and part of an id, with counts', async () => {
    const { page, go, start, rows, checkAccess, picture } = app;
    await go('#/agents/show/tasks');
    await page.getByText('No tasks yet').waitFor();
    await checkAccess();
    const failed = await start('fail');
    await rows('Tasks').filter({ hasText: 'The printer is on fire' }).waitFor();
    for (const text of ['ask', 'auth', 'steps', 'chunks 3', 'chunks 4']) await start(text);
    await expect.poll(() => rows('Tasks').count()).toBe(6);
    await expect.poll(() => page.getByRole('button', { name: /^Completed/ }).textContent()).toMatch(/3$/);
    await checkAccess();
    await picture('2-tasks');
    await page.getByRole('button', { name: /^Failed/ }).click();
    await expect.poll(() => rows('Tasks').count()).toBe(1);
    await page.getByRole('button', { name: /^All/ }).click();
    await page.getByRole('combobox', { name: /^Search/ }).fill(failed.slice(-10));
    await expect.poll(() => rows('Tasks').count()).toBe(1);
    await page.getByRole('combobox', { name: /^Search/ }).fill('nothing has this');
    await page.getByText('No task fits').waitFor();
    await page.getByRole('combobox', { name: /^Search/ }).fill('');
    await page.getByRole('combobox', { name: 'Age' }).selectOption('Last hour');
    await expect.poll(() => rows('Tasks').count()).toBe(6);
  });

  it('2 polls an agent whose store it does not have, and shows what it saw of one without a list', async () => {
    const { page, go, start, rows } = app;
    await go('#/agents/far/tasks');
    await page.getByText('Read from the agent').waitFor();
    await start('fail', 'far');
    await rows('Tasks').filter({ hasText: 'The printer is on fire' }).waitFor();
    await go('#/agents/old/send');
    await page.getByRole('textbox', { name: 'Your message' }).fill('chunks 3');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await entry('Completed').waitFor();
    await page.getByRole('link', { name: 'Tasks', exact: true }).first().click();
    await page.getByText('the ones that this inspector saw').waitFor();
    await rows('Tasks').filter({ hasText: 'Written' }).waitFor();
  });

  it('3 shows the log of a task with turns, steps, leases and durations, and goes back to any position', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    await go(`#/agents/show/tasks/${await start('steps')}`);
    await entry('Step measure').waitFor();
    await entry(/Turn 1\s*started/).waitFor();
    await go(`#/agents/show/tasks/${await start('hold')}`);
    await entry('Holding').waitFor();
    await page.getByText(/Lease 1, held by/).waitFor();
    served.gate.release();
    await entry(/Completed\s*Done/).waitFor();
    await page.getByText(/Lease 1, held by/).waitFor({ state: 'detached' });
    await heading('held').waitFor();
    await checkAccess();
    await entry('Holding').click();
    await page.getByText('The task as it was at entry').waitFor();
    await heading('held').waitFor({ state: 'detached' });
    const shown = page.getByRole('region', { name: 'The task', exact: true });
    await expect.poll(() => shown.textContent()).toContain('Working');
    await checkAccess();
    await picture('3-timeline');
    await page.getByRole('slider').focus();
    await page.keyboard.press('End');
    await heading('held').waitFor();
    await page.getByRole('listbox', { name: 'Timeline' }).focus();
    await page.keyboard.press('Home');
    await page.getByText('The task as it was at entry 1').waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    await heading('held').waitFor();
  });

  it('3 resumes after a cut connection to the agent, and shows that', async () => {
    const { page, go, start, served, picture } = app;
    await go('#/agents/far/card');
    await page.getByRole('row', { name: 'JSONRPC' }).getByRole('button').click();
    await page.getByRole('row', { name: 'JSONRPC' }).getByText('in use').waitFor();
    await go(`#/agents/far/tasks/${await start('hold', 'far')}`);
    await entry(/Working\s*Holding/).waitFor();
    served.cutFar();
    await entry('Connection lost').waitFor();
    await entry(/Reconnecting\s*to the agent, after/).waitFor();
    served.gate.release();
    await entry('Resumed').waitFor();
    await picture('3-resumed');
    await entry(/Completed\s*Done/).waitFor();
  });

  it('4 shows text, cleaned Markdown, JSON, pictures, sounds and files, and runs nothing of it', async () => {
    const { page, go, start, problems, hosts, checkAccess, picture } = app;
    const known = problems.length;
    await go(`#/agents/show/tasks/${await start('content')}`);
    await heading('Findings').waitFor();
    const state = page.getByRole('region', { name: 'The task', exact: true });
    await state.getByRole('link', { name: 'a good one' }).waitFor();
    expect(await state.getByText('a link', { exact: true }).getAttribute('href')).toBeNull();
    await expect.poll(() => state.getByText('Picture: a picture').count()).toBe(1);
    await expect.poll(() => state.getByText('<script>window.stolen = true</script>').count()).toBe(1);
    expect(
      await state.locator('script, style, iframe, form:has(input[name=token]), .markdown img').count(),
    ).toBe(0);
    expect(await page.evaluate(() => 'stolen' in window)).toBe(false);
    const img = state.getByRole('img', { name: 'pixel.png' });
    await expect.poll(() => img.evaluate((each) => (each as HTMLImageElement).naturalWidth)).toBe(1);
    await expect
      .poll(() => state.locator('audio').evaluate((each) => (each as HTMLAudioElement).readyState))
      .toBeGreaterThan(0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      state.locator('figure', { hasText: 'sheet.csv' }).getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('sheet.csv');
    expect(problems.slice(known)).toEqual([]);
    expect([...hosts]).toEqual([new URL(app.served.url).host]);
    await checkAccess();
    await picture('4-content');
  });

  it('4 is held by the policy of its page even if markup gets in', async () => {
    const { page, problems, hosts } = app;
    const known = problems.length;
    const isRun = await page.evaluate(async () => {
      const frame = document.createElement('div');
      const script = document.createElement('script');
      try {
        script.textContent = 'window.stolen = true';
      } catch {
        // Trusted types refuse the text of a script.
      }
      const picture = document.createElement('img');
      picture.src = 'http://127.0.0.2:9/pixel.png';
      frame.append(script, picture);
      document.body.append(frame);
      await new Promise((resolve) => {
        picture.onerror = resolve;
        picture.onload = resolve;
      });
      frame.remove();
      let isHtmlRefused = false;
      try {
        frame.innerHTML = '<b>markup</b>';
      } catch {
        isHtmlRefused = true;
      }
      return { isStolen: 'stolen' in window, isHtmlRefused };
    });
    expect(isRun).toEqual({ isStolen: false, isHtmlRefused: true });
    expect(problems.splice(known).join('\n')).toContain('Content Security Policy');
    hosts.delete('127.0.0.2:9');
  });

  it('4 loads a file of another server only when asked to', async () => {
    const { page, go, start, served, hosts } = app;
    await go(`#/agents/show/tasks/${await start(`remote ${served.url}/picture.png`)}`);
    const load = page.getByRole('button', { name: /^Load from/ });
    await load.waitFor();
    expect(served.outside.pictures).toBe(0);
    await load.click();
    await page.getByRole('img', { name: 'far.png' }).waitFor();
    expect(served.outside.pictures).toBe(1);
    expect(hosts.size).toBe(1);
  });

  it('4 shows what two tasks made side by side', async () => {
    const { page, go, start, served, checkAccess } = app;
    const first = await until(served.show, await start('draw a red boat'), 'COMPLETED');
    const second = await until(served.show, await start('draw a blue boat'), 'COMPLETED');
    await go(`#/compare?a=show/${first.id}&b=show/${second.id}`);
    await page.getByRole('region', { name: 'Left task' }).getByText('A drawing: a red boat').waitFor();
    await page.getByRole('region', { name: 'Right task' }).getByText('A drawing: a blue boat').waitFor();
    await checkAccess();
  });

  it('4 answers a form, and 5 sends text', async () => {
    const { page, go, checkAccess, picture } = app;
    await go('#/agents/show/send');
    await page.getByRole('textbox', { name: 'Your message' }).fill('convert something');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('textbox', { name: /^amount/i }).waitFor();
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await expect.poll(() => page.getByText(/^(This is needed|Choose one)$/).count()).toBe(2);
    await page.getByRole('textbox', { name: /^amount/i }).fill('much');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('This is no number').waitFor();
    await checkAccess();
    await picture('4-form');
    await page.getByRole('textbox', { name: /^amount/i }).fill('21');
    await page.getByRole('combobox', { name: /^currency/i }).selectOption('EUR');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await entry('Twice 21 EUR').waitFor();
    const answer = page.locator('.message-user').last();
    await answer.getByText('amount').waitFor();
    expect(await answer.textContent()).not.toContain('formId');
  });

  it('4 answers with its form what the client was asked as text, and leaves a reserved question to links', async () => {
    const { page, go, start, served, checkAccess } = app;
    const id = await start('convert something');
    await until(served.show, id, 'INPUT_REQUIRED');
    await go(`#/agents/show/tasks/${id}`);
    await page.getByRole('textbox', { name: /^amount/i }).fill('42');
    await page.getByRole('combobox', { name: /^currency/i }).selectOption('EUR');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await entry('Twice 42 EUR').waitFor();
    await go(`#/agents/show/tasks/${await start('reserved')}`);
    await page.getByText('Only a person with an answer link may answer this question: Ana.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Your answer' }).count()).toBe(0);
    await checkAccess();
  });

  it('4 says what to do while an agent waits for an authorization', async () => {
    const { page, go, start, checkAccess, picture } = app;
    await go(`#/agents/show/tasks/${await start('auth')}`);
    await page.getByText('The agent waits for an authorization').waitFor();
    await checkAccess();
    await picture('4-auth');
    await page.getByRole('button', { name: 'Run now' }).click();
    await entry('Woken').waitFor();
  });

  it('5 sends data, files and the form of a skill, and cancels', async () => {
    const { page, go, start, served } = app;
    await go('#/agents/show/send');
    await page.getByRole('button', { name: 'Convert' }).click();
    await page.getByRole('textbox', { name: /^amount/i }).fill('4');
    await page.getByRole('combobox', { name: /^currency/i }).selectOption('USD');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await entry('Twice 4 USD').waitFor();

    await go('#/agents/show/send');
    await page.getByRole('textbox', { name: 'Your message' }).fill('ask');
    await page.getByRole('button', { name: 'Add data' }).click();
    await page.getByRole('textbox', { name: 'Data, as JSON' }).fill('{"colour":');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('The data is no JSON.').waitFor();
    await page.getByRole('textbox', { name: 'Data, as JSON' }).fill('{"colour":"red"}');
    const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') };
    await page.locator('input[type=file]').setInputFiles(note);
    await page.getByText('note.txt · 5 bytes').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await entry('Which colour?').waitFor();
    const state = page.getByRole('region', { name: 'The task', exact: true });
    await state.getByText('note.txt').waitFor();
    await state.getByText('"red"').waitFor();
    await page.getByRole('textbox', { name: 'Your answer' }).fill('blue');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await entry('You said blue').waitFor();

    const held = await start('hold');
    await go(`#/agents/show/tasks/${held}`);
    await page.getByRole('button', { name: 'Cancel task' }).click();
    await entry('Cancel requested').waitFor();
    await until(served.show, held, 'CANCELED');
    await go('#/agents/show/send');
    await page.getByRole('textbox', { name: 'Your message' }).fill('hello');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('The agent answered without a task').waitFor();
    await page.getByText('Hello to you').waitFor();
  });

  it('6 leads from a task to one that it started, and to the list of its context', async () => {
    const { page, go, rows, start, served } = app;
    const child = await start('fail', 'far');
    const parent = await until(served.show, await start(`parent ${child} far`), 'COMPLETED');
    await start('draw a boat', 'show', { contextId: parent.contextId });
    await go(`#/agents/show/tasks/${parent.id}`);
    await page.getByRole('link', { name: /^Child other: Show far/ }).click();
    await entry('The printer is on fire').waitFor();
    expect(page.url()).toContain(`#/agents/far/tasks/${child}`);
    await go(`#/agents/show/tasks/${parent.id}`);
    await page.getByRole('link', { name: 'Context', exact: true }).click();
    await expect.poll(() => rows('Tasks').count()).toBe(2);
  });

  it('7 shows webhooks that were given up, and delivers again', async () => {
    const { page, go, start, served, checkAccess, picture } = app;
    const id = await start('ask');
    const client = await connect(`${served.url}/show`);
    const hook = { taskId: id, id: 'w1', url: `${served.url}/hook?secret=1`, token: 'very-secret' };
    await client.createTaskPushNotificationConfig(hook);
    await client.send('blue', { task: id });
    await go(`#/agents/show/tasks/${id}`);
    await page.getByText(/^Webhook 127\.0\.0\.1:\d+ given up$/).waitFor();
    expect(await page.content()).not.toContain('secret');
    await checkAccess();
    await picture('7-webhooks');
    served.outside.isHookUp = true;
    await page.getByRole('button', { name: 'Retry webhooks' }).click();
    await page.getByText(/^Webhook 127\.0\.0\.1:\d+ has entry \d+$/).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Retry webhooks' }).count()).toBe(0);
  });

  it('8 shows each request as it was sent, over each binding, as a line that can be run', async () => {
    const { page, go, rows, checkAccess, picture } = app;
    for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
      await go('#/agents/far/card');
      const row = page.getByRole('row', { name: binding });
      await row.waitFor();
      if ((await row.getByText('in use').count()) === 0) await row.getByRole('button').click();
      await row.getByText('in use').waitFor();
      await go('#/agents/far/send');
      await page.getByRole('textbox', { name: 'Your message' }).fill('fail');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await entry('The printer is on fire').waitFor();
      await go('#/agents/far/wire');
      await page.getByRole('combobox', { name: 'Binding' }).selectOption(binding);
      const sent = rows('Requests').filter({ hasText: 'SendStreamingMessage' }).first();
      await sent.click();
      const shell = (await page.locator('pre.shell-line').textContent())!;
      if (binding === 'GRPC') {
        expect(shell).toMatch(
          /^grpcurl -plaintext .* 127\.0\.0\.1:\d+ lf\.a2a\.v1\.A2AService\/SendStreamingMessage$/,
        );
      } else {
        const { stdout } = await promisify(execFile)('sh', ['-c', shell]);
        expect(stdout).toContain('The printer is on fire');
      }
    }
    await checkAccess();
    await picture('8-wire');
  });

  it('offers only what the viewer may do', async () => {
    const { served, page, start } = app;
    const id = await start('ask');
    const inspector = createInspector({ server: served.show, token }, app.folder);
    const address = await listen(inspector);
    const other = await page.context().newPage();
    await other.goto(inspector.addressAt(address));
    await other.getByText('Read only').waitFor();
    await other.getByRole('link', { name: 'Show', exact: true }).waitFor();
    expect(await other.getByRole('button', { name: /Kill|^Add$/ }).count()).toBe(0);
    await other.goto(`${address}/#/agents/show/tasks/${id}`);
    await other.getByRole('option').filter({ hasText: 'Which colour?' }).waitFor();
    expect(await other.getByRole('button', { name: /Cancel task|Run now|Send/ }).count()).toBe(0);
    await other.goto(`${address}/#/agents/show/send`);
    await other.getByText('This inspector may look, and not send.').waitFor();
    await other.close();
  });

  it('is as readable in the dark and on a narrow screen', async () => {
    const { page, go, start, checkAccess, picture } = app;
    const id = await start('content');
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    for (const [name, hash] of [
      ['tasks', '#/agents/show/tasks'],
      ['task', `#/agents/show/tasks/${id}`],
      ['card', '#/agents/far/card'],
      ['wire', '#/agents/far/wire'],
    ] as const) {
      await go(hash);
      await page
        .getByRole(name === 'card' ? 'heading' : 'listbox')
        .first()
        .waitFor();
      if (name === 'task') await heading('Findings').waitFor();
      await checkAccess();
      await picture(`dark-${name}`);
    }
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 390, height: 800 });
    for (const [name, hash] of [
      ['tasks', '#/agents/show/tasks'],
      ['task', `#/agents/show/tasks/${id}`],
    ] as const) {
      await go(hash);
      await page.getByRole('listbox').first().waitFor();
      await checkAccess();
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBeLessThanOrEqual(390);
      await picture(`narrow-${name}`);
    }
    const places = ['fleet', 'tasks', 'inbox', 'schedules', 'requests', 'activity', 'compare'];
    for (const path of [...places, 'agents/show/send', 'agents/show/wire', 'agents/far/card']) {
      await go(`#/${path}`);
      await page.locator('main :is(h1, h2, h3, p, [role=listbox])').first().waitFor();
      const width = () => page.evaluate(() => document.documentElement.scrollWidth);
      await expect.poll(width, { message: path }).toBeLessThanOrEqual(390);
      await picture(`narrow-${path.replaceAll('/', '-')}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('logged no error besides those that the tests caused', () => {
    expect(app.problems.filter((text) => !/502 \(|status of 401|status of 50\d/.test(text))).toEqual([]);
  });
});
