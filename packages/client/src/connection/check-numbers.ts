import { A2AError } from '@batonjs/protocol/errors';

/** How deep values are looked at. Agents refuse deeper ones. */
const maxLevels = 100;

/** Throws `INVALID_PARAMS` for a number that JSON does not have: some bindings would send `null` for it. */
export function checkNumbers(params: Readonly<Record<string, unknown>>): void {
  const path = pathOfNumber(params, maxLevels);
  if (path === undefined) return;
  throw new A2AError('INVALID_PARAMS', `\`${path.slice(1)}\` is a number that is not finite: JSON has none`);
}

/** Where the first such number stands. */
function pathOfNumber(value: unknown, levels: number): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : '';
  if (typeof value !== 'object' || value === null || levels === 0) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const path = pathOfNumber(member, levels - 1);
    if (path !== undefined) return `.${name}${path}`;
  }
  return undefined;
}
