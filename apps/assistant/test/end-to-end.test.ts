import { connect, textOf } from '@batonjs/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SampleApp, startApp } from '../../../test/support/sample-app.ts';

let app: SampleApp;
beforeAll(async () => {
  app = await startApp('assistant', { ASSISTANT_MODEL: '' });
});
afterAll(async () => {
  expect(await app.stop()).toBe(0);
});

it('holds the conversation of its own client', async () => {
  const client = await app.converse();
  expect(await client.ended, client.output).toBe(0);
});

describe.each(['JSONRPC', 'HTTP+JSON'])('over %s', (binding) => {
  it('streams fewer chunks than words, and remembers only its own context', async () => {
    const agent = await connect(app.url, { binding });
    const stream = agent.stream('one two three');
    const texts: string[] = [];
    for await (const { artifactUpdate } of stream)
      if (artifactUpdate) texts.push(textOf(artifactUpdate.artifact));
    expect(texts.join('')).toBe('You said "one two three".');
    expect(texts.every((text) => text !== '')).toBe(true);
    const { task } = await agent.send('again', { contextId: stream.task!.contextId! });
    expect(textOf(task?.artifacts?.[0])).toBe('You said "again". Before that: "one two three".');
    const { task: fresh } = await agent.send('hello');
    expect(textOf(fresh?.artifacts?.[0])).toBe('You said "hello".');
  });
});
