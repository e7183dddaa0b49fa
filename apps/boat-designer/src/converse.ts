import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { ArtifactLineage, connect, refine, textOf } from '@batonjs/client';

const [url = 'http://127.0.0.1:4003'] = process.argv.slice(2);
const agent = await connect(url);
const lineage = new ArtifactLineage();
const name = 'sailboat_image.png';

console.log('A boat');
const { task: first } = await agent.send('Generate an image of a sailboat on the ocean.');
equal(first?.status.state, 'TASK_STATE_COMPLETED');
const [drawn] = lineage.add(first);
equal(drawn?.name, name);
equal(drawn.artifact.description, 'A generated image of a sailboat on the ocean.');
const [part] = drawn.artifact.parts;
equal(part?.mediaType, 'image/png');
console.log(`  ${drawn.artifact.description} ${'raw' in part ? part.raw.length : 0} bytes in base64`);
lineage.accept(drawn);

console.log('The same in red, by a reference to its task');
const { task: second } = await agent.send('Please modify the sailboat to be red.', { references: [first] });
equal(second?.contextId, first.contextId);
const [red] = lineage.add(second!);
equal(red?.number, 2);
equal(red.name, name);
notEqual(red.artifact.artifactId, drawn.artifact.artifactId);
equal(red.artifact.description, 'A generated image of a red sailboat on the ocean.');
lineage.reject(red);

console.log('The accepted one with blue sails: the message names its artifact');
const accepted = lineage.latestAccepted(drawn.contextId, name);
equal(accepted?.number, 1);
const { task: third } = await agent.send(refine(accepted, 'Give it blue sails'));
const [blue] = lineage.add(third!);
equal(blue?.artifact.description, 'A generated image of a sailboat with blue sails on the ocean.');

console.log('Something that could be about any of them');
const { task: asking } = await agent.send('Make it green', { contextId: first.contextId });
equal(asking?.status.state, 'TASK_STATE_INPUT_REQUIRED');
for (const line of textOf(asking.status.message).split('\n')) console.log(`  ${line}`);
const { task: fourth } = await agent.send(refine(red, 'The red one'), { task: asking });
equal(fourth?.id, asking.id);
const [green] = lineage.add(fourth!);
equal(green?.artifact.description, 'A generated image of a green sailboat on the ocean.');

const versions = new ArtifactLineage(JSON.parse(JSON.stringify(lineage))).versions(drawn.contextId, name);
deepEqual(
  versions.map(({ number, verdict }) => [number, verdict]),
  [
    [1, 'accepted'],
    [2, 'rejected'],
    [3, undefined],
    [4, undefined],
  ],
);
console.log('All as it should be');
