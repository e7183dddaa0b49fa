/** What a turn is made of, for `@batonjs/testing`: an agent without a server. May change in any release. */

export type { Agent, Claims, References, Turn } from '../../agent/agent.ts';
export { toParts } from '../../agent/builders.ts';
export type { OpenedCallback } from '../../agent/callback.ts';
export { checkAnswer, checkEnd, checkUpdate, isUpdates } from '../../agent/check-agent-output.ts';
export { waitingIn } from '../../agent/emitting.ts';
export { valuesOf } from '../../agent/message-content.ts';
export type { StepRetry } from '../../agent/retries/retry.ts';
export { defaultLimits } from '../../base/limits.ts';
export { type Clock, type HearingClock, hear, isoTime, systemClock } from '../../base/timing/clock.ts';
export { nextRound } from '../../base/timing/round-limit.ts';
export { checkMemory, decideAll } from '../../log/write/decision.ts';
export { AgentTurn } from '../agent-turn.ts';
export { unsigned } from '../outside/callback-keys.ts';
export { completeRetry } from '../retries/retry-policy.ts';
export type { TurnSources } from '../turn-dependencies.ts';
