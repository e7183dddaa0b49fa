/** Does so much work, `atATime` of it at a time. Resolves to milliseconds. */
export async function inTurn(count: number, atATime: number, work: () => Promise<unknown>): Promise<number> {
  let left = count;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      while (left-- > 0) await work();
    }),
  );
  return performance.now() - start;
}
