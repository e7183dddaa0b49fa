import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseDockerfile, wordsOf } from '../../scripts/container/dockerfile.ts';
import { readText, root } from '../repository/source-files.ts';

const image = parseDockerfile(readText('Dockerfile')).at(-1)!;
const last = (name: string) => image.instructions.findLast((instruction) => instruction.name === name)!;
const programIn = (command: readonly string[]) => command.find((word) => word.endsWith('.ts'))!;

describe('the Dockerfile', () => {
  it('ends as an ordinary user, with a check of its health and a process that gets signals itself', () => {
    expect(image.from).toMatch(/^node:24\.\d+\.\d+-slim@sha256:[0-9a-f]{64}$/);
    expect(new Set(parseDockerfile(readText('Dockerfile')).map(({ from }) => from)).size).toBe(1);
    expect(last('USER').text).toBe('node');
    // Nothing after it runs as root or is owned by it.
    const after = image.instructions.slice(image.instructions.indexOf(last('USER')));
    expect(after.filter(({ name }) => name === 'RUN' || name === 'COPY')).toEqual([]);
    expect(wordsOf(last('HEALTHCHECK'))[0]).toBe('node');
    expect(wordsOf(last('CMD'))[0]).toBe('node');
    expect(() => wordsOf({ name: 'CMD', text: 'npm start' })).toThrow('CMD is not a list');
  });

  it('starts a program of the repository, and copies only from stages that are there', () => {
    expect(existsSync(join(root, programIn(wordsOf(last('CMD')))))).toBe(true);
    const stages = parseDockerfile(readText('Dockerfile')).map(({ name }) => name);
    for (const { text } of image.instructions.filter(({ name }) => name === 'COPY'))
      expect(stages).toContain(/^--from=(\w+) /.exec(text)?.[1]);
  });
});

describe('the compose file', () => {
  const { services } = parse(readText('apps/two-servers/compose.yml'), { merge: true });

  it('has two servers, a worker and a Redis that forgets nothing', () => {
    expect(Object.keys(services)).toEqual(['redis', 'server-1', 'server-2', 'worker']);
    expect(services.redis.command.join(' ')).toMatch(/--appendfsync always .*noeviction/);
  });

  it.each(['server-1', 'server-2', 'worker'])(
    'gives %s no right that it does not need, and time to end',
    (name) => {
      const service = services[name];
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], stop_grace_period: '30s' });
      expect(service.environment.BATON_STORE).toBe('redis://redis:6379');
      expect(existsSync(join(root, programIn(service.command)))).toBe(true);
    },
  );
});
