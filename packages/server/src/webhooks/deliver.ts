import { FACT_FORMAT, type Fact, isTerminal, toStreamResponse } from '@batonjs/lifecycle';
import { PREVIEW_VERSION } from '@batonjs/protocol/headers';
import { type Delivery, type DeliveryOutcome, loadTask, type StoredFact } from '@batonjs/store';
import { type DeliverySpan, runIn } from '../base/hooks/telemetry.ts';
import { isoTime } from '../base/timing/clock.ts';
import { generationAt, generationIn } from '../log/generation/generation-at.ts';
import { type AttemptResult, attempt } from './attempt.ts';
import { deliveryId } from './delivery-id.ts';
import type { FailingWebhooks } from './failing-webhooks.ts';
import { retryDelay } from './retry-delay.ts';
import { isWanted } from './wanted-update.ts';
import type { DeliveryDependencies } from './webhooks.ts';

/** Facts that are read before the webhook goes to the end of the queue again. */
const batch = 16;

/** How long a delivery is claimed for, in whole milliseconds: enough for an attempt and the store calls around it. */
export const deliveryMs = ({ push, options: { leaseMs } }: DeliveryDependencies): number =>
  Math.ceil(leaseMs + push.options.timeoutMs * 1.25);

/** How far a delivery got. */
export interface DeliveryProgress {
  /** Whether the webhook accepted each update or refused it so that it was skipped. False: tried again later, or given up. */
  readonly works: boolean;
  /** Whether it accepted an update. */
  readonly tookOne: boolean;
  /** Milliseconds until the next attempt; unset if none is planned. */
  readonly againMs?: number;
}

const done: DeliveryProgress = { works: true, tookOne: false };

/** Whether no update follows: a webhook that refuses this one is given up, so that `deadLetters` shows it. */
const endsTask = (fact: Fact): boolean => fact.type === 'status-changed' && isTerminal(fact.status.state);

/**
 * Moves one webhook further in the log: posts the updates that it wants, in order, and records its position. Rejects if
 * the store does not answer; then the claim runs out and the rest is delivered again.
 */
export async function deliver(
  delivery: Delivery,
  dependencies: DeliveryDependencies,
  failing: FailingWebhooks,
  closing: AbortSignal,
): Promise<DeliveryProgress> {
  const { store, push, clock } = dependencies;
  const { scope, taskId, id, cursor, attempts } = delivery.push;
  let span: DeliverySpan | undefined;
  const advance = (outcome: DeliveryOutcome) => push.store.advance(delivery, outcome);

  const facts = await store.readFacts(scope, taskId, cursor, batch);
  const last = facts.at(-1);
  if (facts.some(({ fact }) => fact.format !== FACT_FORMAT)) {
    // Another process may know this format; skipping the fact would hide it for good.
    await advance({
      retryAt: isoTime(clock.now() + retryDelay(1, push.options.retry, clock.random)),
      attempts,
    });
    return done;
  }
  if (facts.some(({ fact }) => fact.type === 'answered')) {
    // The agent answered with a message: there is no task with updates.
    await push.store.removePushConfig(scope, taskId, id);
    return done;
  }
  const due = facts.filter(({ fact }) => isWanted(fact, push.options.updates));
  const first = due.length === 0 || facts[0]?.version === 1 ? facts[0] : await firstOf();
  let tookOne = false;
  for (const stored of due) {
    const before = stored === due[0] ? attempts : 0;
    const result = await send(stored, first, before);
    if (result.delivered) {
      failing.over(delivery.push);
      tookOne = true;
    } else {
      const outcome = closing.aborted
        ? handedBack(before)
        : runIn(span, () => outcomeOf(result, stored, before));
      if (outcome) {
        await advance(outcome);
        const againMs = 'retryAt' in outcome ? Date.parse(outcome.retryAt) - clock.now() : undefined;
        return { works: false, tookOne, againMs };
      }
    }
    const keep = stored === due.at(-1) ? undefined : { ttlMs: deliveryMs(dependencies) };
    // The claim was lost: the process that has it delivers the rest.
    if (keep && !(await advance({ cursor: stored.version, keep }))) return { works: true, tookOne };
  }
  await advance({ cursor: last?.version ?? cursor });
  return { works: true, tookOne };

  async function firstOf(): Promise<StoredFact | undefined> {
    return (await store.readFacts(scope, taskId, 0, 1))[0];
  }

  async function send(
    { version, fact }: StoredFact,
    first: StoredFact | undefined,
    before: number,
  ): Promise<AttemptResult> {
    const format = push.formats.get(delivery.push.protocolVersion);
    const contextId = first?.fact.type === 'message-received' ? first.fact.message.contextId : undefined;
    const event = toStreamResponse({ id: taskId, contextId: contextId ?? '' }, fact);
    if (!first || !event) return { delivered: true };
    if (!format) {
      const reason = `no format for version ${delivery.push.protocolVersion}`;
      return { delivered: false, reason, retry: 'yes' };
    }
    const name = deliveryId(delivery.push, first, version);
    const isCounted = format.version === PREVIEW_VERSION;
    const whole = isCounted ? generationIn(event, await generationOf(version)) : event;
    const parcel = { push: delivery.push, id: name, format, event: whole };
    const started = dependencies.telemetry?.delivery({
      taskId,
      configId: id,
      attempt: before + 1,
      url: delivery.push.config.url,
      lagMs: clock.now() - Date.parse(fact.at),
      traceparent: first.fact.type === 'message-received' ? first.fact.traceparent : undefined,
    });
    if (!started) return attempt(parcel, dependencies, closing);
    span = started;
    const { headers } = started;
    const result = await started.run(() => attempt({ ...parcel, headers }, dependencies, closing));
    const { status } = result;
    if (result.delivered) started.end({ outcome: 'delivered', status });
    else started.end({ outcome: closing.aborted ? 'handed_back' : 'failed', status, reason: result.reason });
    return result;
  }

  async function generationOf(version: number): Promise<number> {
    const state = await loadTask(store, scope, taskId);
    // Pruned at this very moment: the webhook cannot know the task any more.
    return state ? generationAt(store, { scope, taskId, state }, version) : 0;
  }

  function handedBack(attempts: number): DeliveryOutcome {
    return { retryAt: isoTime(clock.now()), attempts };
  }

  /** Undefined if the update is skipped. */
  function outcomeOf(
    { reason, retry, afterMs }: AttemptResult & { delivered: false },
    { version, fact }: StoredFact,
    before: number,
  ): DeliveryOutcome | undefined {
    const { maxAttempts, maxRejections, maxAgeMs, maxDelayMs } = push.options.retry;
    const attempts = before + 1;
    const now = clock.now();
    const details = { taskId, configId: id, version, attempts, reason };
    const rejections = failing.failed(delivery.push, {
      isRejection: retry === 'few' || retry === 'skip',
      mayHurry: retry !== 'skip' && afterMs === undefined,
    });
    if (retry === 'skip' && rejections < maxRejections && !endsTask(fact)) {
      dependencies.log('warn', 'A webhook refused an update, which is skipped', details);
      return undefined;
    }
    const isFinal = retry === 'skip' || retry === 'no';
    const isHopeless = isFinal || rejections >= maxRejections || attempts >= maxAttempts;
    if (isHopeless || now - Date.parse(fact.at) > maxAgeMs) {
      failing.over(delivery.push);
      dependencies.log('warn', 'A webhook was given up', details);
      dependencies.telemetry?.gaveUp();
      return { dead: `${reason}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}` };
    }
    const wait = Math.max(
      retryDelay(attempts, push.options.retry, clock.random),
      Math.min(afterMs ?? 0, maxDelayMs),
    );
    dependencies.log('info', 'A delivery failed and is tried again', {
      ...details,
      afterMs: Math.round(wait),
    });
    return { retryAt: isoTime(now + wait), attempts };
  }
}
