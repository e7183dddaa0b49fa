/** A stream that reads a generator as it is read itself. */
export function streamOf<T>(values: AsyncGenerator<T>): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      const next = await values.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await values.return(undefined);
    },
  });
}
