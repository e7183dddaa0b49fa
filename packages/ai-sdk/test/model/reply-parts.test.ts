import { append, artifact, completed, file } from '@batonjs/server';
import { generateText } from 'ai';
import { expect, it } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { a2a } from '../../src/client.ts';
import { ReplyParts } from '../../src/model/reply-parts.ts';

const raw = (text: string) => ({ raw: btoa(text), mediaType: 'text/plain' });

it('files that are appended one by one are all given', async () => {
  const model = a2a(
    serve(async function* () {
      const png = (text: string) => file(Buffer.from(text), { mediaType: 'image/png' });
      yield artifact('images', png('one'));
      yield append('images', png('two'));
      yield append('images', png('two'));
      yield completed();
    }),
  );
  const { files } = await generateText({ model, prompt: 'x' });
  expect(files.map(({ base64 }) => atob(base64))).toEqual(['one', 'two', 'two']);
});

it('a task repeats no file that events gave, and gives those in which it differs', () => {
  const reply = new ReplyParts(false);
  const given = (parts: readonly object[]) =>
    parts.flatMap((part) => ('data' in part ? [atob((part.data as { data: string }).data)] : []));
  const about = { artifactId: 'images' };
  const of = { taskId: 'task', contextId: 'context' };
  for (const [at, text] of ['one', 'two', 'three'].entries()) {
    const artifact = { ...about, parts: [raw(text)] };
    expect(given([...reply.event({ artifactUpdate: { ...of, artifact, append: at > 0 } })])).toEqual([text]);
  }
  const taskWith = (...texts: string[]) => ({
    task: {
      id: 'task',
      contextId: 'context',
      status: { state: 'TASK_STATE_WORKING' as const },
      artifacts: [{ ...about, parts: texts.map(raw) }],
    },
  });
  expect(given([...reply.event(taskWith('one', 'two', 'three', 'four'))])).toEqual(['four']);
  expect(given([...reply.event(taskWith('one', 'another'))])).toEqual(['another']);
});
