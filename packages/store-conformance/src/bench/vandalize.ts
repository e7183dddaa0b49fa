/** Changes every member of a value at any depth. Frozen objects stay as they are. */
export function vandalize(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    vandalize(member);
    if (typeof member !== 'object') Reflect.set(value, key, 'vandalized');
  }
  Reflect.set(value, 'vandalized', true);
  if (Array.isArray(value)) Reflect.set(value, 'length', 0);
}
