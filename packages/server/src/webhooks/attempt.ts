import type { PushFormat } from '@batonjs/bindings';
import { type Fact, isTerminal } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import { A2A_VERSION, DELIVERY_ID, NOTIFICATION_TOKEN } from '@batonjs/protocol/headers';
import { backoffMs, retryAfterMs, unlessAborted } from '@batonjs/protocol/timing';
import type { PushConfig, PushConfigStore } from '@batonjs/store';
import { sha256 } from '#bytes';
import { sendTo } from '#send-to';
import { type HearingClock, hear, isoTime } from '../base/timing/clock.ts';
import { atMost } from '../base/timing/within-deadline.ts';
import { AddressRefused } from './address-policy/address-policy.ts';
import { backoffOf, type DeliveryDependencies, type PushRetry } from './webhooks.ts';

/** One update on its way to one webhook. */
export interface WebhookRequest {
  readonly push: PushConfig;
  readonly id: string;
  readonly format: PushFormat;
  readonly event: StreamResponse;
  /** Of telemetry. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How an attempt ended. `reason` holds no secrets, and nothing of the webhook's answer. */
export type AttemptResult =
  | { readonly delivered: true; readonly status?: number }
  | {
      readonly delivered: false;
      /** Of the webhook's answer, if there was one. */
      readonly status?: number;
      readonly reason: string;
      /**
       * Whether to try again: `few` times for an answer that may come from a proxy during a deployment, or may be
       * final. `skip`: not with this update, which the webhook refuses, but with the next one.
       */
      readonly retry: 'yes' | 'few' | 'skip' | 'no';
      /** Nothing was sent: the options of this process do not let it, and those of another one may. */
      readonly isRefusedHere?: true;
      /** How long the webhook asks to wait, in milliseconds. */
      readonly afterMs?: number | undefined;
    };

type AttemptDependencies = Pick<DeliveryDependencies, 'push' | 'clock' | 'logger'>;

/** How many bytes of an answer are read before the connection is closed. They are not used. */
const maxBytes = 16 * 1024;
/** How long a signature is valid. */
const signedSeconds = 300;

/** Posts an update once. Never rejects. `closing` cuts it short. Spec: §4.3.3. */
export async function attempt(
  webhookRequest: WebhookRequest,
  dependencies: AttemptDependencies,
  closing: AbortSignal,
): Promise<AttemptResult> {
  const { timeoutMs } = dependencies.push.options;
  const clock: HearingClock = dependencies.clock;
  let result: AttemptResult = failure(`no answer within ${timeoutMs} ms`);
  await atMost(timeoutMs, closing, clock, async (signal) => {
    try {
      const posted = post(webhookRequest, dependencies, signal);
      clock[hear]?.(posted);
      result = await posted;
    } catch (error) {
      if (!signal.aborted) result = failureOf(error);
    }
  });
  return result;
}

async function post(
  webhookRequest: WebhookRequest,
  { push: { policy, sign }, clock, logger }: AttemptDependencies,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { config, taskId } = webhookRequest.push;
  const destination = await policy.destination(config.url, signal);
  const { authentication, token } = config;
  let body: string;
  let signed: Readonly<Record<string, string>>;
  try {
    body = webhookRequest.format.encode(webhookRequest.event);
    signed = (await unlessAborted(sign?.(unsigned(webhookRequest, body, clock.now())), signal)) ?? {};
  } catch (error) {
    if (signal.aborted) throw error;
    logger('error', 'A delivery could not be made', { taskId, error });
    return failure('could not be made');
  }
  const headers = {
    ...webhookRequest.headers,
    // First, so that the headers below replace those of the same name, in any case.
    ...signed,
    'content-type': webhookRequest.format.mediaType,
    'user-agent': 'Baton',
    [A2A_VERSION.toLowerCase()]: webhookRequest.format.version,
    [DELIVERY_ID.toLowerCase()]: webhookRequest.id,
    ...(authentication && {
      authorization: [authentication.scheme, authentication.credentials].filter(Boolean).join(' '),
    }),
    ...(token && { [NOTIFICATION_TOKEN.toLowerCase()]: token }),
  };
  const reply = await sendTo(destination, { method: 'POST', headers, body }, { signal, maxBytes });
  return judge(reply.status, reply.headers['retry-after'], clock.now());
}

const unsigned = ({ push, id }: WebhookRequest, body: string, now: number) => {
  const iat = Math.floor(now / 1_000);
  return {
    claims: {
      jti: id,
      aud: push.config.url,
      iat,
      exp: iat + signedSeconds,
      taskId: push.taskId,
      request_body_sha256: sha256(body, 'hex'),
    },
    body,
    authorized: push.config.authentication !== undefined,
  };
};

function judge(status: number, header: string | undefined, now: number): AttemptResult {
  if (status >= 200 && status < 300) return { delivered: true, status };
  return {
    ...failure(`answered ${status}`),
    status,
    retry: retryOf(status),
    afterMs: retryAfterMs(header, now),
  };
}

function retryOf(status: number): 'yes' | 'few' | 'skip' | 'no' {
  if (status >= 500 || status === 408 || status === 425 || status === 429) return 'yes';
  if ((status >= 300 && status < 400) || status === 404 || status === 410) return 'few';
  // Its credentials are refused, and will be with every update.
  return status === 401 || status === 403 ? 'no' : 'skip';
}

function failureOf(error: unknown): AttemptResult {
  if (AddressRefused.is(error))
    return { ...failure(`URL ${error.message}`), retry: 'no', isRefusedHere: true };
  // The text of such errors may hold addresses and headers.
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
  return failure(`connection ${code}`);
}

const failure = (reason: string) => ({ delivered: false, reason, retry: 'yes' }) as const;

export interface FailedAttempt {
  /** The update. */
  readonly fact: Fact;
  /** Attempts with this update, this one counted. */
  readonly attempts: number;
  /** How often in a row the webhook refused updates, this one counted. */
  readonly rejections: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly random: () => number;
}

/** A webhook is tried again, or given up. */
export type FailureOutcome = Extract<
  Parameters<PushConfigStore['advance']>[1],
  { retryAt: string } | { dead: string }
>;

/** Whether no update follows: a webhook that refuses this one is given up, so that `deadLetters` shows it. */
const endsTask = (fact: Fact): boolean => fact.type === 'status-changed' && isTerminal(fact.status.state);

/** The fate of a webhook that did not take an update. Undefined if the update is skipped. */
export function outcomeOf(
  { reason, retry, afterMs = 0 }: AttemptResult & { delivered: false },
  { fact, attempts, rejections, now, random }: FailedAttempt,
  options: PushRetry,
): FailureOutcome | undefined {
  const { maxAttempts, maxRejections, maxAgeMs, maxDelayMs } = options;
  if (retry === 'skip' && rejections < maxRejections && !endsTask(fact)) return undefined;
  const isFinal = retry === 'skip' || retry === 'no';
  const isHopeless = isFinal || rejections >= maxRejections || attempts >= maxAttempts;
  if (isHopeless || now - Date.parse(fact.at) > maxAgeMs)
    return { dead: `${reason}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}` };
  const wait = Math.max(backoffMs(attempts, backoffOf(options), random), Math.min(afterMs, maxDelayMs));
  return { retryAt: isoTime(now + wait), attempts };
}
