import { ArtifactLineage, refine } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';

const drawn = (
  id: string,
  artifactId: string,
  name: string | undefined,
  text: string,
  contextId = 'c-1',
): Task => ({
  id,
  contextId,
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [{ artifactId, ...(name && { name }), parts: [{ text }] }],
});

describe('the lineage of artifacts [R-REF-04]', () => {
  it('counts the versions of a name in its context', () => {
    const lineage = new ArtifactLineage();
    lineage.add(drawn('t-1', 'a-1', 'boat.png', 'a boat'));
    lineage.add(drawn('t-2', 'a-2', 'boat.png', 'a red boat'));
    lineage.add(drawn('t-3', 'a-3', 'plan', 'a plan'));
    lineage.add(drawn('t-4', 'a-4', 'boat.png', 'another one', 'c-2'));
    expect(lineage.versions('c-1', 'boat.png').map(({ number, taskId }) => [number, taskId])).toEqual([
      [1, 't-1'],
      [2, 't-2'],
    ]);
    expect(lineage.versions('c-1')).toHaveLength(3);
    expect(lineage.latest('c-2', 'boat.png')?.number).toBe(1);
    expect(lineage.latest('c-3', 'boat.png')).toBeUndefined();
  });

  it('knows an artifact again, and takes what it has become', () => {
    const lineage = new ArtifactLineage();
    lineage.accept(lineage.add(drawn('t-1', 'a-1', 'boat.png', 'half a bo'))[0]!);
    expect(lineage.add(drawn('t-1', 'a-1', 'boat.png', 'a boat'))).toEqual([]);
    expect(lineage.versions('c-1')).toMatchObject([
      { number: 1, verdict: 'accepted', artifact: { parts: [{ text: 'a boat' }] } },
    ]);
  });

  it('goes by the id of an artifact that has no name', () => {
    const lineage = new ArtifactLineage();
    expect(lineage.add(drawn('t-1', 'a-1', undefined, 'x'))[0]?.name).toBe('a-1');
  });

  it('remembers accepted and rejected versions', () => {
    const lineage = new ArtifactLineage();
    const versions = ['t-1', 't-2', 't-3'].flatMap((id) => lineage.add(drawn(id, `a-${id}`, 'boat.png', id)));
    expect(lineage.latestAccepted('c-1', 'boat.png')).toBeUndefined();
    lineage.accept(versions[0]!);
    lineage.accept(versions[1]!);
    lineage.reject(versions[2]!);
    expect(lineage.latestAccepted('c-1', 'boat.png')?.taskId).toBe('t-2');
    expect(lineage.latest('c-1', 'boat.png')).toMatchObject({ taskId: 't-3', verdict: 'rejected' });
    lineage.reject(versions[1]!);
    expect(lineage.latestAccepted('c-1', 'boat.png')?.taskId).toBe('t-1');
    expect(() => lineage.accept({ ...versions[0]!, taskId: 't-9' })).toThrow(RangeError);
  });

  it('can be saved and restored', () => {
    const lineage = new ArtifactLineage();
    lineage.accept(lineage.add(drawn('t-1', 'a-1', 'boat.png', 'a boat'))[0]!);
    const restored = new ArtifactLineage(JSON.parse(JSON.stringify(lineage)));
    expect(restored.toJSON()).toEqual(lineage.toJSON());
    restored.add(drawn('t-2', 'a-2', 'boat.png', 'a red boat'));
    expect(restored.latest('c-1', 'boat.png')?.number).toBe(2);
    expect(lineage.versions('c-1')).toHaveLength(1);
  });

  it('says in a message which version is meant [R-REF-01, R-REF-03]', () => {
    const lineage = new ArtifactLineage();
    const [first] = lineage.add(drawn('t-1', 'a-1', 'boat.png', 'a boat'));
    const [second] = lineage.add(drawn('t-1', 'a-2', 'plan', 'a plan'));
    expect(refine(first!, 'Make it red')).toEqual({
      contextId: 'c-1',
      referenceTaskIds: ['t-1'],
      parts: [{ text: 'Make it red', metadata: { taskId: 't-1', artifactId: 'a-1' } }],
    });
    expect(refine([first!, second!], { data: 1, metadata: { x: 1 } })).toEqual({
      contextId: 'c-1',
      referenceTaskIds: ['t-1'],
      parts: [
        {
          data: 1,
          metadata: {
            x: 1,
            references: [
              { taskId: 't-1', artifactId: 'a-1' },
              { taskId: 't-1', artifactId: 'a-2' },
            ],
          },
        },
      ],
    });
  });
});
