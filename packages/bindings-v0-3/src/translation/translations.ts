import type { A2AError } from '@batonjs/protocol/errors';
import type { Codec } from '../wire/codec.ts';
import type { Loss, ReportLoss } from '../wire/loss.ts';
import type { V03Error } from '../wire/objects.ts';
import { card } from './agent-card.ts';
import { downError, upError } from './error.ts';
import { event } from './event.ts';
import { artifact, message } from './message.ts';
import { part } from './part.ts';
import { taskPushConfig } from './push-config.ts';
import { sendParams } from './request.ts';
import { artifactUpdate, status, statusUpdate, task } from './task.ts';

/** A value in the other version, and the losses of the translation. */
export interface Translated<Value> {
  readonly value: Value;
  readonly losses: readonly Loss[];
}

/** One kind of object in both versions. `up` is from 0.3 to 1.0. Both functions are pure. */
export interface Translation<Older, Newer> {
  up(older: Older): Translated<Newer>;
  /** `isLast`, of events: nothing follows in this stream. By default it is whether the task ended. */
  down(newer: Newer, isLast?: boolean): Translated<Older>;
}

const translation = <Older, Newer>(codec: Codec<Older, Newer>): Translation<Older, Newer> => ({
  up: (older) => collect((report) => codec.decode(older, { report }, '')),
  down: (newer, isLast) => collect((report) => codec.encode(newer, { report, isLast }, '')),
});

function collect<Value>(translate: (report: ReportLoss) => Value): Translated<Value> {
  const losses: Loss[] = [];
  return { value: translate((code, path) => losses.push({ code, path })), losses };
}

/** Errors lose nothing. */
const error: Translation<V03Error, A2AError> = {
  up: (older) => ({ value: upError(older), losses: [] }),
  down: (newer) => ({ value: downError(newer), losses: [] }),
};

/**
 * Translations of every object of the protocol between A2A 0.3 and 1.0. They take valid values. For example,
 * `translations.event.up` reads the body of a webhook.
 */
export const translations = {
  part: translation(part),
  message: translation(message),
  artifact: translation(artifact),
  status: translation(status),
  task: translation(task),
  statusUpdate: translation(statusUpdate),
  artifactUpdate: translation(artifactUpdate),
  event: translation(event),
  sendRequest: translation(sendParams),
  pushConfig: translation(taskPushConfig),
  card: translation(card),
  error,
} as const;
