import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { pushConfigChecks } from './checks/webhooks/push-configs.ts';
import { describeChecks } from './describe-task-store.ts';
import type { CheckOptions, Opened } from './fixture/check.ts';

/** Runs the tests that a `PushConfigStore` has to pass, each on a fresh store. */
export function describePushConfigStore(
  name: string,
  open: () => Opened<TaskStore & PushConfigStore> | Promise<Opened<TaskStore & PushConfigStore>>,
  options?: CheckOptions,
): void {
  describeChecks(`${name} is a PushConfigStore`, pushConfigChecks, open, options);
}
