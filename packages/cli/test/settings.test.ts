import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { serveMany } from './agents.ts';
import { cli } from './cli.ts';

/** A home with a global file, a project with a local one, and a folder in that project. */
function project(global: string, local: string) {
  const home = temporaryFolder();
  mkdirSync(join(home, '.config/a2a-cli'), { recursive: true });
  writeFileSync(join(home, '.config/a2a-cli/.env'), global, { mode: 0o600 });
  const cwd = join(temporaryFolder(), 'a', 'b');
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, '../../.env'), local);
  return { home, cwd };
}

const shown = async (line: string, around: Parameters<typeof cli>[1]) => {
  const { settings } = (await cli(`config show -o json ${line}`, around)).json;
  return (name: string) => settings.find((each: { name: string }) => each.name === name);
};

describe('settings', () => {
  it('come from the flag, the environment, the local and the global file, in this order [A2ACLI_CONFIG_002, R-CLI-40, R-CLI-41, R-CLI-42]', async () => {
    const url = await serveMany();
    const around = project(
      'A2ACLI_OUTPUT=json\nA2ACLI_AGENT_CARD=nowhere.invalid',
      `A2ACLI_AGENT_CARD=${url}`,
    );
    expect((await cli('send hello', around)).json.task).toBeDefined();
    const env = { A2ACLI_OUTPUT: 'text' };
    expect((await cli('send hello', { ...around, env })).stdout).toContain('State: ');
    expect((await cli('send -o json hello', { ...around, env })).json.task).toBeDefined();
    const other = join(around.home, 'other.env');
    writeFileSync(other, 'A2ACLI_OUTPUT=text');
    for (const flag of ['--config', '--env-file'])
      expect((await cli(`send -a ${url} ${flag} ${other} hello`, around)).stdout).toContain('State: ');
    expect((await cli(`send -a ${url} --config /dev/null/such hello`, around)).code).toBe(2);
  });

  it('are shown with their sources, secrets redacted, and are not changed [A2ACLI_CONFIG_001, A2ACLI_CONFIG_002, R-CLI-02, R-CLI-44]', async () => {
    const around = project('A2ACLI_BEARER=s3cret\nA2ACLI_TIMEOUT=5s', 'A2ACLI_OUTPUT=json\nOTHER=x');
    const before = readFileSync(join(around.home, '.config/a2a-cli/.env'), 'utf8');
    const find = await shown('', { ...around, env: { A2ACLI_PROGRESS: 'never' } });
    expect(find('bearer')).toMatchObject({
      value: '[redacted]',
      source: expect.stringMatching(/^global file/),
    });
    expect(find('output')).toMatchObject({ value: 'json', source: expect.stringMatching(/^local file/) });
    expect(find('progress')).toMatchObject({ value: 'never', source: 'environment' });
    expect(find('poll-interval')).toMatchObject({ source: 'default' });
    expect(find('stream')).toBeUndefined();
    expect(readFileSync(join(around.home, '.config/a2a-cli/.env'), 'utf8')).toBe(before);
    chmodSync(join(around.home, '.config/a2a-cli/.env'), 0o644);
    expect((await cli('config show', around)).stderr).toContain('can be read by other users');
  });

  it('may belong to one agent [A2ACLI_CONFIG_002, R-CLI-43]', async () => {
    const around = project('A2ACLI_BEARER=for-all\nA2ACLI_BEARER@one.example=for-one', '');
    const env = { A2ACLI_TIMEOUT: '1s' };
    const one = await shown('-a one.example', { ...around, env });
    expect(one('bearer').value).toBe('[redacted]');
    const { stdout } = await cli('config show -a one.example', { home: around.home });
    expect(stdout).not.toContain('for-one');
    const timeouts = project('A2ACLI_TIMEOUT=1s\nA2ACLI_TIMEOUT@one.example=2s', '');
    expect((await shown('-a one.example', timeouts))('timeout').value).toBe('2s');
    expect((await shown('-a two.example', timeouts))('timeout').value).toBe('1s');
  });

  it('never set --stream, the parts of a message, help or version [R-CLI-22, R-CLI-41]', async () => {
    const url = await serveMany();
    const env = {
      A2ACLI_STREAM: 'true',
      A2ACLI_TEXT: 'from env',
      A2ACLI_VERSION: 'true',
      A2ACLI_HELP: 'true',
    };
    const { json } = await cli(`send -a ${url} -o json hello`, { env });
    expect(json.task.artifacts[0].parts[0].text).toBe('You said hello');
  });
});
