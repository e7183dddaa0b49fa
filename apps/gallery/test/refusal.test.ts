import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { node, run } from '../../../test/kit/processes.ts';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { builtProgram } from '../../../test/support/built-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-gallery-'));
afterAll(() => rmSync(folder, { recursive: true }));

const program = await builtProgram(new URL('../src/main.ts', import.meta.url));

/** What is said by the process that serves; `supervised` also runs the one that starts it again. */
const served = { BATON_GALLERY_CHILD: 'first' };
const supervised = {};

/** The output of a gallery that ends with exit code 1. */
async function refusal(env: Readonly<Record<string, string>>, processes: object = served): Promise<string> {
  await using gallery = run(node, [program], {
    env: { PORT: '0', BATON_DATA: join(folder, 'data'), ...processes, ...env },
  });
  expect(await gallery.ended).toBe(1);
  return gallery.output;
}

describe('the gallery says in one line why it cannot start', () => {
  it('when its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const said = await refusal({ PORT: String(port) }, supervised);
    other.close();
    expect(said).toMatch(new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is in use\\..*PORT.*\\n$`));
  });

  // Its port is bound by the same call.
  it.skipIf(!repetitions(0, 1))('when its host is not this machine', async () => {
    expect(await refusal({ HOST: '192.0.2.1' }, supervised)).toMatch(
      /^Port 0 of 192\.0\.2\.1 cannot be used .*HOST.*\n$/,
    );
  });

  it('when its port is none', async () => {
    expect(await refusal({ PORT: '4000x' })).toMatch(/^PORT must be a whole number .* not "4000x"\.\n$/);
  });

  it('when its folder is a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await refusal({ BATON_DATA: file }, supervised)).toMatch(
      /^Tasks cannot be kept there \(BATON_STORE, BATON_DATA\): .*file.*\n$/,
    );
  });

  it('when its store is none, or does not answer', async () => {
    expect(await refusal({ BATON_STORE: 'mysql://me:secret@localhost' })).toMatch(
      /^Tasks cannot be kept there .*BATON_STORE names no store: it begins with memory:, [^@]*\n$/,
    );
    expect(await refusal({ BATON_STORE: 'postgres://me:secret@127.0.0.1:1/tasks' })).toMatch(
      /^Tasks cannot be kept there .*PostgreSQL at 127\.0\.0\.1:1\/tasks[^@]*\n$/,
    );
  });

  it('when its database is something else', async () => {
    writeFileSync(
      join(folder, 'tasks.db'),
      'This is no database, and long enough to be looked at. '.repeat(40),
    );
    expect(await refusal({ BATON_DATA: folder })).toMatch(/is not a SQLite database\n$/);
  });
});
