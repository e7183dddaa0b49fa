/** Says how many tasks its release folds, or why it does not. */
import { loadTask } from '@batonjs/store';
import { scopes } from '../chaos/chaos.ts';
import { mediumNamed, mediumOf } from '../chaos/medium.ts';
import { readLogs } from '../workload/verdict.ts';

const [name = '', location = ''] = process.argv.slice(2);
try {
  const store = await mediumOf(mediumNamed(name) ?? 'sqlite').open(location);
  let tasks = 0;
  for (const scope of scopes)
    for (const { taskId } of await readLogs(store, [scope]))
      if (await loadTask(store, scope, taskId)) tasks++;
  console.log(`It reads ${tasks} tasks`);
} catch (error) {
  console.log(String(error));
}
process.exit();
