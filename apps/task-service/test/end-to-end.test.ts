import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../../test/support/sample-app.ts';

const data = '"data":{"amount":100,"currency":"USD"}';
const negative = '"data":{"amount":-5,"currency":"USD"}';
const failed = (taskId: string, code: string, message: string) => [
  'Status update: failed',
  `Final result: {"event":"task_update","taskId":"${taskId}","status":"failed",` +
    `"error":{"code":"${code}","message":${JSON.stringify(message)}},"sequence":n}`,
];

/** What the host prints. Positions in the log are no promise. */
const printed = (first: string, second: string, third: string) => [
  `Task submitted: {"taskId":"task-001","type":"expense",${data},${first}}`,
  'Status update: created',
  'Status update: in_progress',
  'Status update: completed',
  'Final result: {"event":"task_update","taskId":"task-001","status":"completed",' +
    '"result":{"status":"approved","message":"Processed 100 USD"},"sequence":n}',
  `Task submitted: {"taskId":"task-002","type":"expense",${negative},${second}}`,
  'Status update: created',
  'Status update: in_progress',
  ...failed('task-002', 'INVALID_INPUT', 'Amount must be positive'),
  `Task submitted: {"taskId":"task-003","type":"travel","data":{},${third}}`,
  'Status update: created',
  'Status update: in_progress',
  ...failed('task-003', 'INVALID_TASK_TYPE', 'There is no task type "travel"'),
  '',
];

const ended = [
  '"status":"completed","result":{"status":"approved","message":"Processed 100 USD"},"sequence":n',
  '"status":"failed","error":{"code":"INVALID_INPUT","message":"Amount must be positive"},"sequence":n',
  `"status":"failed","error":{"code":"INVALID_TASK_TYPE","message":${JSON.stringify('There is no task type "travel"')}},"sequence":n`,
] as const;

it('prints how tasks are submitted, go on and end, and the same again without running them again', async () => {
  const app = await startApp('task-service', {});
  onTestFinished(async () => {
    expect(await app.stop()).toBe(0);
  });
  const converse = async () => {
    const host = await app.converse();
    expect(await host.ended, host.output).toBe(0);
    return host.output.replaceAll(/"sequence":\d+/g, '"sequence":n').split('\n');
  };
  const first = await converse();
  // How far a task is when its submission is answered is chance.
  const submitted = first.map((line) =>
    line.replace(/^(Task submitted: .*\},|.*"data":\{\},)"status":.*/, '$1…}'),
  );
  expect(submitted).toEqual(printed('…', '…', '…'));
  expect(await converse()).toEqual(printed(...ended));
});
