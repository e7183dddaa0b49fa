import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { describe, it } from 'vitest';
import { taskStoreChecks } from './checks/task-store.ts';
import { pushConfigChecks } from './checks/webhooks/push-configs.ts';
import { type Check, type CheckOptions, type Opened, runCheck } from './fixture/check.ts';

/** Long enough for the properties on a slow disk, in milliseconds; the other checks take a small part of it. */
const testTimeoutMs = 60_000;

/** Runs the tests that a `TaskStore` has to pass, each on a fresh store. Call it once per adapter and configuration. */
export function describeTaskStore(
  name: string,
  open: () => Opened | Promise<Opened>,
  options?: CheckOptions,
): void {
  describeChecks(`${name} is a TaskStore`, taskStoreChecks, open, options);
}

function describeChecks<S extends TaskStore>(
  name: string,
  checks: readonly Check<S>[],
  open: () => Opened<S> | Promise<Opened<S>>,
  options?: CheckOptions,
): void {
  describe(name, () => {
    for (const section of new Set(checks.map((check) => check.section))) {
      describe(section, () => {
        for (const check of checks.filter((one) => one.section === section))
          it(check.title, () => runCheck(check, open, options), testTimeoutMs);
      });
    }
  });
}

/** Runs the tests that a `PushConfigStore` has to pass, each on a fresh store. */
export function describePushConfigStore(
  name: string,
  open: () => Opened<TaskStore & PushConfigStore> | Promise<Opened<TaskStore & PushConfigStore>>,
  options?: CheckOptions,
): void {
  describeChecks(`${name} is a PushConfigStore`, pushConfigChecks, open, options);
}
