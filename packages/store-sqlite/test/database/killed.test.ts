import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Durability, sqliteStore } from '../../src/index.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf } from '../logs.ts';
import { start } from '../other-process.ts';

/** Lets a process write until it has printed so many lines, kills it, and returns what it had acknowledged. */
async function writeAndDie(
  path: string,
  durability: Durability,
  lines: number,
): Promise<Map<string, number>> {
  const child = start(new URL('./write-until-killed.ts', import.meta.url), [path, durability], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let printed = '';
  for await (const data of child.stdout!) {
    printed += data;
    if (printed.split('\n').length > lines) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  const complete = printed.slice(0, printed.lastIndexOf('\n')).split('\n');
  return new Map(
    complete.map((line) => line.split(' ')).map(([taskId, version]) => [taskId!, Number(version)]),
  );
}

describe('a killed process', () => {
  it.each<[Durability, number]>([
    ['full', 50],
    ['full', 400],
    ['normal', 1_000],
    ['normal', 4_000],
  ])(
    'loses nothing that was acknowledged with durability %s (killed after %i commits)',
    async (durability, lines) => {
      const path = freshPath();
      const acknowledged = await writeAndDie(path, durability, lines);
      expect(acknowledged.size).toBe(8);
      const store = sqliteStore(path);
      expect((await store.list('s', { limit: 9 })).total).toBe(8);
      for (const [taskId, version] of acknowledged) {
        const { version: stored, facts, head } = (await store.load('s', taskId))!;
        expect(stored).toBeGreaterThanOrEqual(version);
        expect(head.version).toBe(stored);
        expect(facts.map((fact) => fact.version)).toEqual(Array.from({ length: stored }, (_, n) => n + 1));
        // Whole commits: one fact, then two at a time.
        expect(stored % 2).toBe(1);
        expect((await store.commit(commitOf(taskId, stored, [chunk(1)]))).version).toBe(stored + 1);
      }
      await store.close();
    },
  );
});
