/** How fast this clock goes, compared to the real one, while it waits for a wall clock that was set back. */
const slowly = 0.9;

let latest = Number.NEGATIVE_INFINITY;
let latestAt = 0;

/**
 * Milliseconds since 1970, for the order in which things happened, never for times that people or agents name. Follows
 * the wall clock forwards, but never goes back: where the wall clock was set back, it goes on at nine tenths of its
 * speed until they agree again. An integer.
 */
export function steadyNow(): number {
  const at = performance.now();
  latest = Math.max(Date.now(), latest + (at - latestAt) * slowly);
  latestAt = at;
  return Math.floor(latest);
}
