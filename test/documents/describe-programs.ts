import { connect, isInterrupted } from '@batonjs/client';
import { expect, it } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { runProgram, type Setting } from '../support/page-program.ts';
import { key, pages } from './page-programs.ts';

/** The programs of a page that make a server or a worker. */
export const programsOf = (file: string): string[] =>
  codeBlocks(file).filter((code) => /\b(createAgentServer|createWorker)\(/.test(code));

/** A test for each program of the pages that is not left out, in this setting. */
export function describePrograms(
  name: string,
  settingOf: () => Promise<Setting & { isPlain?: boolean }>,
): void {
  const programs = Object.entries(pages).flatMap(([page, examples]) =>
    examples.flatMap((example, index) =>
      typeof example === 'string' ? [] : [[`docs/${page}.md`, index, example] as const],
    ),
  );
  it.each(programs)(`${name}, %s, program %i`, async (page, index, given) => {
    const example = typeof given === 'function' ? await given() : given;
    const { message = 'Hello', says = /Hello/, answer, elsewhere, plain, extensions = [] } = example;
    const { isPlain, ...setting } = await settingOf();
    const headers = { 'x-api-key': key, ...example.headers };
    const running = await runProgram(
      programsOf(page)[index]!,
      { ...setting, ...(isPlain && { more: plain ?? {} }) },
      { ...example, headers },
    );
    if (example.ask) expect(await example.ask(running, headers)).toMatch(says);
    else if (message !== null) {
      const client = await connect(running.url, { headers, extensions });
      const stream = client.stream(message);
      // A stream goes on while the agent waits for an authorization.
      for await (const { statusUpdate } of stream)
        if (statusUpdate?.status.state === 'TASK_STATE_AUTH_REQUIRED') await elsewhere?.(running);
      let { task, message: said } = await stream.result();
      if (task && isInterrupted(task)) {
        await elsewhere?.(running);
        const next = elsewhere ? client.follow(task) : client.stream(answer!(task), { task });
        ({ task } = await next.result());
      }
      expect(task?.status.state ?? 'a message').toMatch(/COMPLETED|a message/);
      expect(JSON.stringify([said, task?.status.message, task?.artifacts])).toMatch(says);
    }
    expect(running.faults).toEqual([]);
  });
}
