import { equal, notEqual } from 'node:assert/strict';
import { connect, refine, textOf } from '@batonjs/client';
import type { Artifact, Task } from '@batonjs/server';

const [url = 'http://127.0.0.1:4003'] = process.argv.slice(2);
const agent = await connect(url);
const name = 'sailboat_image.png';
/** The boats in the order in which they were drawn: versions of one picture. */
const versions: { taskId: string; contextId: string; artifact: Artifact; verdict?: string }[] = [];

function versionOf({ id: taskId, contextId = '', artifacts = [] }: Task) {
  const [artifact] = artifacts;
  equal(artifact?.name, name);
  versions.push({ taskId, contextId, artifact });
  return versions.at(-1)!;
}

console.log('A boat');
const { task: first } = await agent.send('Generate an image of a sailboat on the ocean.');
equal(first?.status.state, 'TASK_STATE_COMPLETED');
const drawn = versionOf(first);
equal(drawn.artifact.description, 'A generated image of a sailboat on the ocean.');
const [part] = drawn.artifact.parts;
equal(part?.mediaType, 'image/png');
console.log(`  ${drawn.artifact.description} ${'raw' in part ? part.raw.length : 0} bytes in base64`);
drawn.verdict = 'accepted';

console.log('The same in red, by a reference to its task');
const { task: second } = await agent.send('Please modify the sailboat to be red.', { references: [first] });
equal(second?.contextId, first.contextId);
const red = versionOf(second!);
notEqual(red.artifact.artifactId, drawn.artifact.artifactId);
equal(red.artifact.description, 'A generated image of a red sailboat on the ocean.');
red.verdict = 'rejected';

console.log('The accepted one with blue sails: the message names its artifact');
const accepted = versions.findLast(({ verdict }) => verdict === 'accepted');
equal(accepted, drawn);
const { task: third } = await agent.send(refine(accepted, 'Give it blue sails'));
const blue = versionOf(third!);
equal(blue.artifact.description, 'A generated image of a sailboat with blue sails on the ocean.');

console.log('Something that could be about any of them');
const { task: asking } = await agent.send('Make it green', { contextId: first.contextId });
equal(asking?.status.state, 'TASK_STATE_INPUT_REQUIRED');
for (const line of textOf(asking.status.message).split('\n')) console.log(`  ${line}`);
const { task: fourth } = await agent.send(refine(red, 'The red one'), { task: asking });
equal(fourth?.id, asking.id);
const green = versionOf(fourth!);
equal(green.artifact.description, 'A generated image of a green sailboat on the ocean.');

equal(versions.length, 4);
console.log('All as it should be');
