import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { connect } from '@batonjs/client';
import { signTick } from '@batonjs/server/due';
import { describe, expect, it, onTestFinished } from 'vitest';
import { installerOf } from '../../../packages/create-baton/src/installer.ts';
import { projectFiles } from '../../../packages/create-baton/src/project-files.ts';
import { eventually } from '../../kit/until.ts';
import { root } from '../../repository/source-files.ts';
import { postgres, prepare, secret, startLambda, startVercel } from './deployment.ts';
import { lambdaApi } from './lambda-api.ts';

/** New projects for hosts that keep no process, as those run them. */

/** Writes a project where the packages of this repository are found. */
function write(host: 'vercel' | 'lambda', template: 'plain' | 'streaming'): string {
  const folder = mkdtempSync(join(root, 'packages/create-baton/.template-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of projectFiles('my-agent', { host, template, store: 'postgres' }, installerOf())) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** What Vercel does with the files in `api`: `waitUntil` of its package finds the request by a symbol. */
const vercel = `
import agent from './api/agent.ts';
import { POST as cron } from './api/cron.ts';
const answer = (request, waitUntil) => {
  globalThis[Symbol.for('@vercel/request-context')] = { get: () => ({ waitUntil }) };
  return agent.fetch(request);
};`;

describe.skipIf(!postgres)('a new project', () => {
  it('for Vercel goes on after the reply, and its cron works on what is left', async () => {
    const { url, stateOf, send } = await prepare({ name: 'my-agent', title: 'My agent' });
    const host = await startVercel({ code: vercel, folder: write('vercel', 'plain') }, url);
    const isIdle = host.said('idle');
    const id = await send(host, '3 boxes');
    await isIdle;
    expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED');
    const left = await send(undefined, '4 boxes');
    expect((await host.cron({ authorization: 'Bearer of someone else' })).status).toBe(401);
    const run = await host.cron(await signTick(secret));
    expect(await run.json()).toMatchObject({ turns: 1 });
    expect(await stateOf(left)).toBe('TASK_STATE_COMPLETED');
  });

  it('for Lambda streams at its function URL, goes on after the reply, and its schedule works on the rest', async () => {
    const { url, stateOf, send } = await prepare({ name: 'my-agent', title: 'My agent' });
    const program = { code: `export * from './src/lambda.ts';`, folder: write('lambda', 'streaming') };
    const [api, runs] = [await lambdaApi(), await lambdaApi()];
    const env = { DATABASE_URL: url, PUBLIC_URL: api.url };
    await startLambda(program, 'handler', { ...env, AWS_LAMBDA_RUNTIME_API: api.address });
    await startLambda(program, 'run', { ...env, AWS_LAMBDA_RUNTIME_API: runs.address });
    const client = await connect(api.url);
    const pieces: string[] = [];
    for await (const { artifactUpdate } of client.stream('one two three'))
      pieces.push(...(artifactUpdate?.artifact.parts.map((part) => ('text' in part ? part.text : '')) ?? []));
    expect(pieces.join('')).toBe('You said: one two three');
    const configuration = { returnImmediately: true };
    const { task } = await client.send('later', { configuration });
    expect(task?.status.state).toBe('TASK_STATE_SUBMITTED');
    // The instance takes the next request when it has done what the reply left.
    await eventually(async () => expect(await stateOf(task!.id)).toBe('TASK_STATE_COMPLETED'));
    const left = await send();
    expect(await runs.invoke({ source: 'aws.scheduler' })).toMatchObject({ result: { turns: 1 } });
    expect(await stateOf(left)).toBe('TASK_STATE_COMPLETED');
    // A refusal has a status of its own, and one without a body arrives, too.
    expect((await fetch(`${api.url}/nowhere`)).status).toBe(404);
    expect((await fetch(api.url, { method: 'OPTIONS' })).status).toBeLessThan(500);
  });
});
