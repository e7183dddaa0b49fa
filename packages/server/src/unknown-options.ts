import type { AgentServerOptions } from './options.ts';

/** The compiler names an option that is missing here. */
const known: { readonly [Name in keyof Required<AgentServerOptions>]: true } = {
  agent: true,
  authenticate: true,
  bindings: true,
  blockingMs: true,
  callerLimits: true,
  cancelGraceMs: true,
  cancelWaitMs: true,
  card: true,
  clock: true,
  clocks: true,
  closeStreamsOnInputRequired: true,
  compatibility: true,
  confirmSteps: true,
  cors: true,
  currentStatusInHistory: true,
  extendedCard: true,
  generationWaitMs: true,
  idempotency: true,
  leaseMs: true,
  limits: true,
  log: true,
  maxAttempts: true,
  name: true,
  onCancel: true,
  onTransition: true,
  onTurn: true,
  preview: true,
  publicUrl: true,
  push: true,
  restart: true,
  retention: true,
  run: true,
  schedule: true,
  sharesQueue: true,
  signCard: true,
  skillOf: true,
  store: true,
  storeTimeoutMs: true,
  sweepEveryMs: true,
  telemetry: true,
  tenants: true,
};

/** A sentence for each option that neither servers nor workers have, with the one that may be meant. */
export function unknownOptions(given: object): string[] {
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => {
      const meant = nearest(name);
      return `There is no option \`${name}\`: ${meant ? `did you mean \`${meant}\`?` : 'remove it'}`;
    });
}

/** The known name with the fewest changed letters; undefined if more than a third would have to change. */
function nearest(name: string): string | undefined {
  const [best] = Object.keys(known)
    .map((other) => ({ other, changes: changesBetween(name.toLowerCase(), other.toLowerCase()) }))
    .sort((one, other) => one.changes - other.changes);
  return best && best.changes <= Math.max(1, best.other.length / 3) ? best.other : undefined;
}

/** How many letters are added, removed or replaced. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (const [n, letter] of [...one].entries()) {
    const next = [n + 1];
    for (let m = 1; m < row.length; m++)
      next.push(Math.min(next[m - 1]! + 1, row[m]! + 1, row[m - 1]! + Number(letter !== other[m - 1])));
    row = next;
  }
  return row.at(-1)!;
}
