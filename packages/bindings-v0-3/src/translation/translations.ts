import { downCard, upCard } from './agent-card.ts';
import { downError, upError } from './error.ts';
import type { Loss, Say } from './loss.ts';
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

/** A value in the other version, and what that version could not say. */
export interface Translated<Value> {
  readonly value: Value;
  readonly losses: readonly Loss[];
}

/** One kind of object in both versions. `up` is from 0.3 to 1.0. Both are pure, and neither changes what it is given. */
export interface Translation<Older, Newer> {
  up(older: Older): Translated<Newer>;
  /** `isLast`, of events: nothing follows in this stream. By default, that the task ended. */
  down(newer: Newer, isLast?: boolean): Translated<Older>;
}

const translation = <Older, Newer>(
  up: (older: Older, say: Say, path: string) => Newer,
  down: (newer: Newer, say: Say, path: string, isLast?: boolean) => Older,
): Translation<Older, Newer> => ({
  up: (older) => collect((say) => up(older, say, '')),
  down: (newer, isLast) => collect((say) => down(newer, say, '', isLast)),
});

function collect<Value>(translate: (say: Say) => Value): Translated<Value> {
  const losses: Loss[] = [];
  return { value: translate((code, path) => losses.push({ code, path })), losses };
}

/**
 * Every object of the protocol between A2A 0.3 and 1.0. They take values that are valid; `translations.event.up` reads a
 * webhook's body, for one.
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
  error: translation((error: Parameters<typeof upError>[0]) => upError(error), downError),
} as const;
