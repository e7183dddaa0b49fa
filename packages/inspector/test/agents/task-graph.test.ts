import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { linksOf } from '../../src/graph/task-links.ts';
import { taskPicture } from '../../src/graph/task-picture.ts';

describe('the links of a task', () => {
  const links = (metadata: object | undefined, history?: object[], message?: object) =>
    linksOf({
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING', message },
      ...(metadata && { metadata }),
      ...(history && { history }),
    } as Task);

  it.each<[string, object | undefined, object[]]>([
    ['nothing', undefined, []],
    [
      'children',
      { children: ['a', { taskId: 'b', agent: 'x' }, { id: 'c' }, {}, null, 7] },
      [
        { kind: 'child', taskId: 'a' },
        { kind: 'child', taskId: 'b', agent: 'x' },
        { kind: 'child', taskId: 'c' },
      ],
    ],
    ['children that are none', { children: 'a' }, []],
    [
      'a child',
      { child: 'a', remoteTask: { taskId: 'b', id: 'no', agent: 7 } },
      [
        { kind: 'child', taskId: 'a' },
        { kind: 'child', taskId: 'b' },
      ],
    ],
    [
      'a parent',
      { parent: { id: 'a' }, parentTaskId: 'b' },
      [
        { kind: 'parent', taskId: 'a' },
        { kind: 'parent', taskId: 'b' },
      ],
    ],
    [
      'an extension',
      { 'https://a/b': { child: 'a' }, other: { child: 'b' }, 'c/d': null },
      [{ kind: 'child', taskId: 'a' }],
    ],
    ['itself', { child: 't' }, []],
  ])('are read from %s', (_what, metadata, expected) => {
    expect(links(metadata)).toStrictEqual(expected);
  });

  it('are read from the message of its status', () => {
    const message = { metadata: { remoteTask: { agent: 'far', taskId: 'r' } } };
    expect(links(undefined, [], message)).toEqual([{ kind: 'child', taskId: 'r', agent: 'far' }]);
  });

  it('are at most 100 children, and each once', () => {
    const children = Array.from({ length: 101 }, (_, n) => `c${n}`);
    expect(links({ children })).toHaveLength(100);
    expect(
      links({ child: 'a' }, [{ metadata: { child: 'a' } }, { referenceTaskIds: ['a', 'b', 'b'] }]),
    ).toStrictEqual([
      { kind: 'reference', taskId: 'a' },
      { kind: 'reference', taskId: 'b' },
      { kind: 'child', taskId: 'a' },
    ]);
  });
});

describe('the picture of tasks', () => {
  /** Agents by name, each with tasks that name others, which `task-picture` reads. */
  function drawn(
    agents: Record<string, Record<string, object>>,
    page: { tasks: string[]; next?: string },
    scope?: number,
  ) {
    const read: string[] = [];
    const all = Object.entries(agents).map(([name, tasks]) => ({
      id: name.toLowerCase(),
      name,
      options: { name: `own ${name}` },
      store: undefined,
      link: {
        client: async () => ({
          card: {},
          async getTask({ id }: { id: string }) {
            read.push(`${name} ${id}`);
            const metadata = tasks[id];
            if (!metadata) throw new A2AError(id === 'broken' ? 'UNAVAILABLE' : 'TASK_NOT_FOUND');
            const { at, ...rest } = metadata as { at?: string };
            return {
              id,
              contextId: 'c',
              status: { state: 'TASK_STATE_WORKING', ...(at && { timestamp: at }) },
              metadata: rest,
            };
          },
        }),
      },
    }));
    const asked: unknown[] = [];
    const source = {
      async list(filter: object) {
        asked.push(filter);
        return { ...page, tasks: page.tasks.map((id) => ({ id })) };
      },
    };
    return {
      read,
      asked,
      picture: taskPicture(all[0] as never, source as never, all as never, {
        contextId: 'c',
        ...(scope !== undefined && { scope }),
      }),
    };
  }

  it('has tasks of other agents, by their names or wherever they are', async () => {
    const { picture, asked } = drawn(
      {
        One: {
          a: {
            at: '2',
            children: [
              { taskId: 'b', agent: 'Two' },
              { taskId: 'c', agent: 'three' },
              { taskId: 'd', agent: 'own Two' },
            ],
          },
          x: { child: 'e' },
        },
        Two: { b: { at: '1', parent: 'a' }, d: {}, e: { at: '3' } },
        Three: { c: {} },
      },
      { tasks: ['a', 'x', 'a'] },
    );
    const { nodes, edges, isCut, contextId } = await picture;
    expect([contextId, isCut, asked]).toEqual(['c', false, [{ contextId: 'c', scope: 0 }]]);
    expect(nodes.map(({ id, agent }) => `${agent} ${id}`)).toEqual([
      'one x',
      'three c',
      'two d',
      'two b',
      'one a',
      'two e',
    ]);
    expect(edges).toEqual([
      { from: 'a', to: 'b', kind: 'child' },
      { from: 'a', to: 'c', kind: 'child' },
      { from: 'a', to: 'd', kind: 'child' },
      { from: 'x', to: 'e', kind: 'child' },
    ]);
  });

  it('leaves out what nobody has, and says that there is more', async () => {
    const { picture, asked } = drawn(
      { One: { a: { child: 'none', parent: { taskId: 'b', agent: 'Nobody' } }, b: {} } },
      { tasks: ['a'], next: 'n' },
      2,
    );
    const { nodes, edges, isCut } = await picture;
    expect([nodes.map(({ id }) => id), edges, isCut]).toEqual([['a'], [], true]);
    expect(asked).toEqual([{ contextId: 'c', scope: 2 }]);
  });

  it('follows links four times, and shows 200 tasks', async () => {
    const chain = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`t${n}`, { child: `t${n + 1}` }]));
    expect((await drawn({ One: chain }, { tasks: ['t0'] }).picture).nodes.map(({ id }) => id)).toEqual([
      't0',
      't1',
      't2',
      't3',
      't4',
    ]);
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`t${n}`, {}]));
    const { nodes, isCut } = await drawn({ One: many }, { tasks: Object.keys(many) }).picture;
    expect([nodes.length, isCut]).toEqual([200, true]);
    const exact = Object.keys(many).slice(0, 200);
    expect((await drawn({ One: many }, { tasks: exact }).picture).isCut).toBe(false);
  });

  it('fails where the agent of the context does, and not where another does', async () => {
    await expect(drawn({ One: {} }, { tasks: ['broken'] }).picture).rejects.toThrow();
    const { nodes } = await drawn({ One: { a: { child: 'broken' } } }, { tasks: ['a'] }).picture;
    expect(nodes).toHaveLength(1);
  });
});
