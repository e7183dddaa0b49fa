import { refine } from '@batonjs/client';
import { expect, it } from 'vitest';

const boat = { taskId: 't-1', contextId: 'c-1', artifact: { artifactId: 'a-1' } };
const plan = { taskId: 't-1', contextId: 'c-1', artifact: { artifactId: 'a-2' } };

it('says in a message which artifacts are meant [R-REF-01, R-REF-03]', () => {
  expect(refine(boat, 'Make it red')).toEqual({
    contextId: 'c-1',
    referenceTaskIds: ['t-1'],
    parts: [{ text: 'Make it red', metadata: { taskId: 't-1', artifactId: 'a-1' } }],
  });
  expect(refine({ ...boat, contextId: undefined }, 'Make it red')).not.toHaveProperty('contextId');
  const references = [boat, plan].map(({ taskId, artifact }) => ({ taskId, ...artifact }));
  expect(refine([boat, plan], { data: 1, metadata: { x: 1 } })).toEqual({
    contextId: 'c-1',
    referenceTaskIds: ['t-1'],
    parts: [{ data: 1, metadata: { x: 1, references } }],
  });
});
