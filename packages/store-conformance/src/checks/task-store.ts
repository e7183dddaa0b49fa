import type { Check } from '../fixture/check.ts';
import { takeChecks } from './buckets/take.ts';
import { commitChecks } from './commit.ts';
import { deletionChecks } from './deletions/deletions.ts';
import { pruneChecks } from './deletions/prune.ts';
import { closeChecks, idChecks, identityChecks, pingChecks, scopeChecks } from './ids.ts';
import { listChecks } from './list.ts';
import { listFilterChecks, listTextChecks } from './list-filters.ts';
import { followChecks, subscribeChecks } from './notifications/subscribe.ts';
import { onceChecks, openAppendChecks } from './open-append.ts';
import { propertyChecks } from './properties.ts';
import { loadChecks, readFactsChecks } from './read.ts';
import { recordChecks } from './records.ts';
import { scheduleChecks } from './schedules/schedule.ts';
import { transferChecks } from './transfer.ts';
import { claimChecks, claimOrderChecks } from './turns/claim.ts';
import { leaseChecks, raceChecks, renewChecks } from './turns/lease.ts';
import { measureChecks, waitingChecks } from './turns/measure.ts';
import { pinnedChecks } from './turns/pinned.ts';

/** All checks of the `TaskStore` port. */
export const taskStoreChecks: readonly Check[] = [
  ...commitChecks,
  ...openAppendChecks,
  ...onceChecks,
  ...leaseChecks,
  ...renewChecks,
  ...claimChecks,
  ...claimOrderChecks,
  ...pinnedChecks,
  ...waitingChecks,
  ...measureChecks,
  ...scheduleChecks,
  ...takeChecks,
  ...recordChecks,
  ...raceChecks,
  ...loadChecks,
  ...readFactsChecks,
  ...listChecks,
  ...listFilterChecks,
  ...listTextChecks,
  ...scopeChecks,
  ...idChecks,
  ...identityChecks,
  ...pingChecks,
  ...closeChecks,
  ...subscribeChecks,
  ...followChecks,
  ...pruneChecks,
  ...deletionChecks,
  ...transferChecks,
  ...propertyChecks,
];
