import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';
import { servePushing } from './kit/serve-pushing.ts';
import { heard } from './kit/settings.ts';
import { webhook } from './kit/webhook.ts';

const program = await builtProgram(new URL('./kit/deliver-until-killed.ts', import.meta.url));

it.each([0, 2])(
  'a process killed at update %i leaves the rest to another one, which goes on under the same ids [R-PUSH-04] [R-PUSH-27] [R-PUSH-30]',
  async (at) => {
    const path = join(temporaryFolder(), 'tasks.db');
    // Answers nothing while the first process lives: it is killed while it delivers.
    let isKilled = false;
    const hook = await webhook((_, before) => (before < at || isKilled ? 200 : () => {}));
    const args = ['--disable-warning=ExperimentalWarning', program, path, hook.url()];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const done = once(child.stdout, 'data');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    await eventually(() => expect(hook.received).toHaveLength(at + 1));
    await done;
    child.kill('SIGKILL');
    await ended;
    isKilled = true;
    const store = sqliteStore(path);
    servePushing(store);
    await hook.until(heard.length);
    expect(hook.acknowledged).toEqual(heard);
    expect(hook.received[at + 1]).toMatchObject({ id: hook.received[at]?.id, text: hook.received[at]?.text });
    expect(new Set(hook.received.map(({ headers }) => headers['x-a2a-notification-token']))).toEqual(
      new Set(['kept']),
    );
  },
);
