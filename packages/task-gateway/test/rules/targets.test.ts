import { createServer } from 'node:http';
import { type AgentClient, connect } from '@batonjs/client';
import { TYPED_SKILLS } from '@batonjs/extensions/client';
import { type AgentServer, reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { freePort } from '../../../../test/kit/processes.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { checkedSkill, createTargets, hasSkill, type Target } from '../../src/dispatch/targets.ts';

const named = (name: string): AgentServer =>
  serve(() => reply(name), { card: { name, description: 'For tests' } });
const targetsOf = (types: Parameters<typeof createTargets>[0]) => createTargets(types, {}, undefined);

describe('the agent of a task type', () => {
  it.each([
    ['work', 'Work', undefined],
    ['work/skill', 'Work', 'skill'],
    ['work/a/b', undefined, undefined],
    ['a/b', 'Slash', undefined],
    ['a/b/c', 'Slash', 'c'],
    ['a', undefined, undefined],
    ['/work', undefined, undefined],
    ['work/', 'Work', ''],
    ['', undefined, undefined],
    ['toString', undefined, undefined],
    ['toString/x', undefined, undefined],
    ['other', undefined, undefined],
  ])('%j is %s with the skill %s', async (type, name, skillId) => {
    const targets = targetsOf({ work: named('Work'), 'a/b': named('Slash') });
    expect(targets.has(type)).toBe(name !== undefined);
    if (name === undefined) {
      await expect(targets.open(type)).rejects.toThrow(new TypeError(`There is no task type ${type}`));
      return;
    }
    const target = await targets.open(type);
    expect([target.agent.card.name, target.skillId]).toEqual([name, skillId]);
  });

  it('is connected once, and known to be in this process or not', async () => {
    const local = named('Local');
    const client = await connect('http://localhost', { fetch: local.fetch });
    const url = await listen(nodeHandler(local));
    const targets = targetsOf({ local, client, url, object: new URL(url) });
    const found = await Promise.all(['local', 'client', 'url', 'object'].map((type) => targets.open(type)));
    expect(found.map(({ isLocal }) => isLocal)).toEqual([true, false, false, false]);
    expect(found.map(({ agent }) => agent.card.name)).toEqual(Array.from({ length: 4 }, () => 'Local'));
    expect(found[1]!.agent).toBe(client);
    for (const [n, type] of ['local', 'client', 'url', 'object'].entries())
      expect((await targets.open(type)).agent).toBe(found[n]!.agent);
  });

  it('is connected again after a failure', async () => {
    const port = await freePort();
    const targets = targetsOf({ late: `http://127.0.0.1:${port}` });
    await expect(targets.open('late')).rejects.toMatchObject({ code: 'NETWORK' });
    const listener = createServer(nodeHandler(named('Late')));
    await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve));
    try {
      expect((await targets.open('late')).agent.card.name).toBe('Late');
    } finally {
      listener.close().closeAllConnections();
    }
  });
});

/** An agent with these skills in its card, some of which have schemas. */
const withSkills = (skillId: string | undefined, ids: string[] | undefined, schemas?: unknown) =>
  ({
    agent: {
      card: {
        ...(ids && { skills: ids.map((id) => ({ id })) }),
        ...(schemas !== undefined && {
          capabilities: { extensions: [{ uri: 'other' }, { uri: TYPED_SKILLS, params: schemas }] },
        }),
      },
    } as unknown as AgentClient,
    skillId,
    isLocal: true,
  }) satisfies Target;

describe('the skill of a task', () => {
  it.each<[string | undefined, unknown, string | undefined]>([
    [undefined, undefined, undefined],
    [undefined, null, undefined],
    [undefined, { skills: {} }, undefined],
    [undefined, { skills: { a: {} } }, 'a'],
    [undefined, { skills: { a: {}, b: {} } }, undefined],
    ['b', { skills: { a: {}, b: {} } }, 'b'],
    ['c', { skills: { a: {} } }, undefined],
    ['a', undefined, undefined],
  ])('%s, of an agent with the schemas %j, is checked by those of %s', (skillId, schemas, expected) => {
    expect(checkedSkill(withSkills(skillId, [], schemas))).toBe(expected);
  });

  it('is checked by none if the card has no extensions', () => {
    const agent = { card: { capabilities: {} } } as unknown as AgentClient;
    expect(checkedSkill({ agent, skillId: undefined, isLocal: true })).toBeUndefined();
  });

  it.each<[string | undefined, string[] | undefined, boolean]>([
    [undefined, undefined, true],
    ['a', undefined, false],
    ['a', ['b'], false],
    ['a', ['b', 'a'], true],
  ])('%s is one of an agent with %j: %s', (skillId, ids, expected) => {
    expect(hasSkill(withSkills(skillId, ids))).toBe(expected);
  });
});
