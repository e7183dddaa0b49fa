import { durationText } from '../flags/duration.ts';

/** What a check of a deployment found. */
export interface Finding {
  readonly check: string;
  readonly result: 'ok' | 'problem' | 'skipped';
  readonly note: string;
}

/** Makes a finding of a check: its note, or why it is skipped. Throws nothing. */
export async function find(
  check: string,
  look: () => Promise<{ readonly isOk: boolean; readonly note: string } | string | undefined>,
): Promise<Finding> {
  try {
    const found = await look();
    if (typeof found !== 'object') return { check, result: 'skipped', note: found ?? 'does not apply' };
    return { check, result: found.isOk ? 'ok' : 'problem', note: found.note };
  } catch (error) {
    return { check, result: 'problem', note: error instanceof Error ? error.message : String(error) };
  }
}

/** The clock of another machine against this one, in milliseconds. */
export function clockSkew(theirs: number, before: number, after: number) {
  const skewMs = Math.round(theirs - (before + after) / 2);
  const isOk = Math.abs(skewMs) <= 2_000 + (after - before) / 2;
  return { isOk, note: `${durationText(skewMs)} from the clock of this machine` };
}
