import type { A2AError } from '@batonjs/protocol/errors';
import type { Loss, ReportLoss } from '../wire/loss.ts';
import { downCard, upCard } from './agent-card.ts';
import { downError, upError } from './error.ts';
import { downArtifact, downMessage, upArtifact, upMessage } from './message.ts';
import { downPart, upPart } from './part.ts';
import { downTaskPushConfig, upTaskPushConfig } from './push-config.ts';
import { downSendParams, upSendParams } from './request.ts';
import {
  downArtifactUpdate,
  downEvent,
  downStatus,
  downStatusUpdate,
  downTask,
  upArtifactUpdate,
  upEvent,
  upStatus,
  upStatusUpdate,
  upTask,
} from './task.ts';

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

const translation = <Older, Newer>(
  up: (older: Older, report: ReportLoss, path: string) => Newer,
  down: (newer: Newer, report: ReportLoss, path: string, isLast?: boolean) => Older,
): Translation<Older, Newer> => ({
  up: (older) => collect((report) => up(older, report, '')),
  down: (newer, isLast) => collect((report) => down(newer, report, '', isLast)),
});

function collect<Value>(translate: (report: ReportLoss) => Value): Translated<Value> {
  const losses: Loss[] = [];
  return { value: translate((code, path) => losses.push({ code, path })), losses };
}

/**
 * Translations of every object of the protocol between A2A 0.3 and 1.0. They take valid values. For example,
 * `translations.event.up` reads the body of a webhook.
 */
export const translations = {
  part: translation(upPart, downPart),
  message: translation(upMessage, downMessage),
  artifact: translation(upArtifact, downArtifact),
  status: translation(upStatus, downStatus),
  task: translation(upTask, downTask),
  statusUpdate: translation(upStatusUpdate, downStatusUpdate),
  artifactUpdate: translation(upArtifactUpdate, downArtifactUpdate),
  event: translation(upEvent, downEvent),
  sendRequest: translation(upSendParams, downSendParams),
  pushConfig: translation(upTaskPushConfig, downTaskPushConfig),
  card: translation(upCard, downCard),
  error: translation(
    (error: Parameters<typeof upError>[0]) => upError(error),
    (error: A2AError) => downError(error),
  ),
} as const;
