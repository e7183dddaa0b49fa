import { connectTasks, type NewTask } from '@batonjs/task-gateway/client';

const [url = 'http://127.0.0.1:8080'] = process.argv.slice(2);
const client = connectTasks(url);

async function submitAndWatch(task: NewTask & { readonly taskId: string }): Promise<void> {
  const response = await client.submit(task);
  console.log(`Task submitted: ${JSON.stringify(response)}`);
  for await (const update of client.watch(task.taskId, { after: 0 })) {
    console.log(`Status update: ${update.status}`);
    if (update.status === 'completed' || update.status === 'failed')
      console.log(`Final result: ${JSON.stringify(update)}`);
  }
}

await submitAndWatch({ taskId: 'task-001', type: 'expense', data: { amount: 100, currency: 'USD' } });
await submitAndWatch({ taskId: 'task-002', type: 'expense', data: { amount: -5, currency: 'USD' } });
await submitAndWatch({ taskId: 'task-003', type: 'travel', data: {} });
client.close();
