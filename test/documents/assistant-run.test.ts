import { expect, it } from 'vitest';
import { play } from '../../scripts/assistant/play.ts';
import { steps } from '../../scripts/assistant/steps.ts';
import { repetitions } from '../kit/repetitions.ts';

it.runIf(repetitions(0, 1))(
  'an assistant writes, tests and mends an agent with `baton dev --mcp` alone',
  {
    timeout: 300_000,
  },
  async () => {
    for (const { step, answer } of await play(steps))
      if (step.expects) expect([step.why, answer]).toEqual([step.why, expect.stringMatching(step.expects)]);
  },
);
