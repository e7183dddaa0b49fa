import { createAgentServer, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Exhibit } from '../src/exhibit.ts';
import { fitted, introduction } from '../src/introduction/introduction.ts';
import { lateLog } from '../src/introduction/late-log.ts';

function exhibit(name: string): Exhibit {
  const skills = [
    {
      id: 'x',
      name: 'X',
      description: 'X',
      tags: [],
      examples: ["The taxi's price"],
    },
  ];
  const server = createAgentServer({
    card: { name, description: 'Says hello', skills },
    agent: () => reply('hello'),
    store: memoryStore(),
    logger: () => {},
  });
  onTestFinished(() => server.close());
  return { name, url: `http://127.0.0.1:40000/agents/${name}`, server };
}

it('says first where the inspector is, and fits into 80 columns, with and without colours', () => {
  const names = [
    'expense',
    'currency',
    'boat-designer',
    'trip-planner',
    'assistant',
    'counter',
    'chat',
    'concierge',
  ];
  const [first, ...others] = names.map(exhibit);
  const gallery = {
    localUrl: 'http://127.0.0.1:40000',
    inspectorUrl: `http://127.0.0.1:40000/inspector/#token=${'x'.repeat(24)}`,
    exhibits: [first!, ...others] as const,
  };
  const lines = introduction({ ...gallery, exhibits: [...gallery.exhibits] });
  expect(lines[1]).toBe(`  Inspector ${gallery.inspectorUrl}`);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  for (const name of names) expect(lines.join('\n')).toContain(name);
  expect(lines.join('\n')).not.toContain('\u001b');
  const coloured = introduction({ ...gallery, exhibits: [...gallery.exhibits] }, true);
  expect(coloured[1]).toContain('\u001b[1mInspector\u001b[0m');
  expect(coloured.map((line) => line.split(/.(?=\[\d+m)\[\d+m/).join(''))).toEqual(lines);
  // The shell takes it as one command.
  expect(lines.slice(-4).join('\n')).toContain(`The taxi'\\''s price`);
  expect(fitted('x'.repeat(100))).toHaveLength(80);
  expect(fitted('short')).toBe('  short');
});

it('keeps what is logged until the conversation is over', () => {
  const [error, warn] = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')];
  for (const spy of [error, warn]) spy.mockImplementation(() => {});
  onTestFinished(() => {
    error.mockRestore();
    warn.mockRestore();
  });
  const { logger, open } = lateLog();
  logger('warn', 'A turn was taken up', { taskId: 't' });
  logger('info', 'Nothing', {});
  expect(warn).not.toHaveBeenCalled();
  open();
  expect(warn.mock.calls).toEqual([['[baton] A turn was taken up', { taskId: 't' }]]);
  logger('error', 'It broke', {});
  expect(error).toHaveBeenCalledTimes(1);
});
