import type { Database } from '../sql/database.ts';

/** Ends leases of processes that are gone for certain. Called inside the caller's transaction. */
export function leasesOf(db: Database) {
  const later = db.prepare('SELECT 1 FROM tasks WHERE holder IS NOT NULL AND leased_at > ? LIMIT 1');
  const endLater = db.prepare(
    'UPDATE tasks SET lease_until = 0, leased_at = 0 WHERE holder IS NOT NULL AND leased_at > ?',
  );
  const endTurns = db.prepare(
    `UPDATE tasks SET lease_until = 0, leased_at = ? WHERE holder >= '' AND lease_until > 0`,
  );
  const endDeliveries = db.prepare(
    `UPDATE webhooks SET lease_until = 0, ready_at = CASE WHEN ready_at IS NOT NULL THEN 0 END
     WHERE holder >= '' AND lease_until > 0`,
  );
  return {
    /** Whether there is a lease that `endLeasesFromBeforeBoot` would end. `leaseNow`: of the clock of leases. */
    hasLeasesFromBeforeBoot: (leaseNow: number): boolean => later.get(leaseNow) !== undefined,
    /**
     * Ends the leases that were granted before the host was restarted: their holders are gone, and its clock began at 0.
     * Leases of a time that the clock has reached again run out as if they had been granted now.
     */
    endLeasesFromBeforeBoot: (leaseNow: number): void => void endLater.run(leaseNow),
    /**
     * Ends all leases, where no other process can have one. Their tasks come before those that wait. `leased_at` is when
     * they were ended.
     */
    endAll(leaseNow: number): void {
      endTurns.run(leaseNow);
      endDeliveries.run();
    },
  };
}
