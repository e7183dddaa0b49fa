/** A stream that reads a generator as it is read itself. `cancel`: what a reader who leaves does. */
export const streamOf = <T>(
  values: AsyncGenerator<T>,
  cancel: () => unknown = () => values.return(undefined),
): ReadableStream<T> =>
  new ReadableStream<T>({
    async pull(controller) {
      const next = await values.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async () => void (await cancel()),
  });
