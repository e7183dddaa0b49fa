let made = 0;

/** An id that grows with time, like those that Baton makes: in an index, neighbours in time are neighbours. */
export function growingId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const count = (++made).toString(16).padStart(6, '0');
  const chance = crypto.randomUUID().slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.slice(0, 3)}-8${count.slice(3)}-${chance}`;
}
