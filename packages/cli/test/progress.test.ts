import { describe, expect, it } from 'vitest';
import { serveMany, serveSteps } from './agents.ts';
import { abortedAfterTest, cli } from './cli.ts';

const erase = '\r\u001b[2K';
const terminal = { isTTY: true, env: { TERM: 'xterm' } } as const;

/** An agent whose steps go on by themselves. */
const steps = () => serveSteps([Promise.resolve(), Promise.resolve()]);

describe('the progress line', () => {
  it('is a bar where the agent reports progress, and a spinner where it does not [R-CLI-110, R-CLI-111]', async () => {
    const gates = [1, 2].map(() => Promise.withResolvers<void>());
    const url = await serveSteps(gates.map(({ promise }) => promise));
    const { stderr } = await cli(`send -a ${url} go`, {
      ...terminal,
      onWrite(stream, text) {
        if (stream === 'stderr' && text.includes('0 % Step 1')) gates[0]!.resolve();
        if (stream === 'stderr' && text.includes('50 % Step 2')) gates[1]!.resolve();
      },
    });
    expect(stderr).toMatch(/█+.*░+ +50 % Step 2/);
    expect((await cli(`send -a ${await serveMany()} hello`, terminal)).stderr).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  });

  it.each(['task subscribe', 'task get --wait --poll-interval 20ms'])(
    'has the state of a task that is followed by `%s` [R-CLI-110]',
    async (command) => {
      const url = await serveMany();
      const id = (await cli(`send -a ${url} -o json --async endless`)).json.task.id;
      let isCanceled = false;
      const { code, stderr } = await cli(`${command} -a ${url} ${id}`, {
        ...terminal,
        onWrite(stream, text) {
          if (isCanceled || stream !== 'stderr' || !/TASK_STATE_(SUBMITTED|WORKING)/.test(text)) return;
          isCanceled = true;
          void cli(`task cancel -a ${url} ${id}`);
        },
      });
      expect([code, isCanceled]).toEqual([0, true]);
      expect(stderr).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    },
  );

  it('changes no byte of standard output [R-CLI-110]', async () => {
    const url = await steps();
    const ids = /[\da-f]{8}-[\da-f-]{27}/g;
    const plain = await cli(`send -a ${url} go`);
    const drawn = await cli(`send -a ${url} go`, terminal);
    expect(drawn.stderr).toContain(erase);
    expect(drawn.stdout.replaceAll(ids, 'id')).toBe(plain.stdout.replaceAll(ids, 'id'));
  });

  it.each([
    ['standard error is no terminal', '', { env: { TERM: 'xterm' } }],
    ['the terminal is dumb', '', { isTTY: true, env: { TERM: 'dumb' } }],
    ['-o json', '-o json', terminal],
    ['--stream', '--stream', terminal],
    ['--async', '--async', terminal],
    ['--debug', '--debug', terminal],
    ['--progress never', '--progress never', terminal],
  ])('is not drawn with %s [R-CLI-111]', async (_, flags, around) => {
    const { stderr } = await cli(`send -a ${await steps()} ${flags} go`, around);
    expect(stderr).not.toContain('\u001b');
  });

  it('has no colour with NO_COLOR [R-CLI-111]', async () => {
    const url = await steps();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours
    const colour = /\u001b\[\d+m/;
    expect((await cli(`send -a ${url} go`, terminal)).stderr).toMatch(colour);
    const env = { TERM: 'xterm', NO_COLOR: '1' };
    expect((await cli(`send -a ${url} go`, { isTTY: true, env })).stderr).not.toMatch(colour);
  });

  it('is erased before anything else is written, and at the end [R-CLI-112]', async () => {
    const written: [string, string][] = [];
    await cli(`send -a ${await steps()} go`, { ...terminal, onWrite: (...each) => void written.push(each) });
    let isDrawn = false;
    for (const [stream, text] of written) {
      const isLine = stream === 'stderr' && text.startsWith(erase) && text !== erase;
      if (!isLine && text !== erase) expect(isDrawn, text).toBe(false);
      isDrawn = isLine;
    }
    expect(isDrawn).toBe(false);
  });

  it('is erased when the wait is interrupted [R-CLI-112]', async () => {
    const interrupt = abortedAfterTest();
    const { stderr, code } = await cli(`send -a ${await serveMany()} endless`, {
      ...terminal,
      signal: interrupt.signal,
      onWrite: (_, text) => text.includes('Working') && interrupt.abort(),
    });
    expect(code).toBe(130);
    expect(stderr.endsWith(erase)).toBe(true);
  });
});
