import { previewMessages, protoFields } from '@batonjs/protocol/proto-messages';
import { expect, it } from 'vitest';

it.each([
  ['Task', { generation: 7, timeline: 8 }],
  ['TimelineEntry', { message: 1, status: 2, generation: 3 }],
  ['Artifact', { start_generation: 7, end_generation: 8 }],
  ['TaskStatusUpdateEvent', { generation: 5 }],
  ['TaskArtifactUpdateEvent', { generation: 7 }],
  ['SendMessageConfiguration', { if_generation_match: 5, timeline_length: 6 }],
  ['GetTaskRequest', { current_generation: 4, timeline_length: 5 }],
  ['ListTasksRequest', { timeline_length: 9 }],
] as const)('%s has the numbers that A2A 1.1 plans [R-P11-32]', (name, numbers) => {
  const fields = protoFields(name, previewMessages[name]).map((field) => [field.name, field.number]);
  expect(Object.fromEntries(fields)).toMatchObject(numbers);
});
