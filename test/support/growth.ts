/** A run is repeated until it has taken this long, so that the clock's resolution does not matter. Milliseconds of CPU. */
const shortest = 10;
const rounds = 3;
/** How often a growth is measured that is more than linear: caches and the compiler may be busy with other work. */
const attempts = 4;

/**
 * How many times as much CPU a function takes for an input four times as long: about 4 if it is linear, 16 if it is
 * quadratic. Wall time is not read, so other processes do not matter. The smallest of several rounds counts.
 */
export function growthOf(work: (length: number) => void, length: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && least > 6; attempt++) {
    const [short, long] = [costOf(() => work(length)), costOf(() => work(4 * length))];
    least = Math.min(least, long / short);
  }
  return least;
}

/** Milliseconds of CPU that one run takes at least. */
function costOf(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  // The first round also warms up the compiler and the caches.
  for (let round = 0; round < rounds; round++) {
    const before = process.threadCpuUsage();
    let runs = 0;
    let spent = 0;
    while (spent < shortest) {
      run();
      runs++;
      const { user, system } = process.threadCpuUsage(before);
      spent = (user + system) / 1_000;
    }
    least = Math.min(least, spent / runs);
  }
  return least;
}
