/** Keeps a core busy until the process that started it is gone. */
process.on('disconnect', () => process.exit());

function work(): void {
  const end = performance.now() + 50;
  while (performance.now() < end);
  // Lets the event loop notice that the parent has gone.
  setImmediate(work);
}
work();
