import { connect, textOf } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { sampleApp } from '../../../test/support/sample-app.ts';

const app = sampleApp('assistant', { ASSISTANT_MODEL: '' });

describe.each(['JSONRPC', 'HTTP+JSON'])('over %s', (binding) => {
  it('streams fewer chunks than words, and remembers only its own context', async () => {
    const agent = await connect(app.url, { binding });
    const stream = agent.stream('one two three');
    const texts: string[] = [];
    for await (const { artifactUpdate } of stream)
      if (artifactUpdate && !artifactUpdate.lastChunk) texts.push(textOf(artifactUpdate.artifact));
    expect(texts.join('')).toBe('You said "one two three".');
    expect(texts.every((text) => text !== '')).toBe(true);
    const { task } = await agent.send('again', { contextId: stream.task!.contextId! });
    expect(textOf(task?.artifacts?.[0])).toBe('You said "again". Before that: "one two three".');
    const { task: fresh } = await agent.send('hello');
    expect(textOf(fresh?.artifacts?.[0])).toBe('You said "hello".');
  });
});
