import type { Message } from '@batonjs/protocol';
import type { Caller } from './caller.ts';

/** The labels of the task that a message starts; undefined for none. `caller`: what `authenticate` returned. */
export type LabelsOf = (message: Message, caller: Caller | undefined) => readonly string[] | undefined;
