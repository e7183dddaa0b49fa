import type { Fact } from './facts.ts';

/** Whether a full log takes a fact: the task needs it to be canceled, run or ended. `small`: only a small one. */
type WhenFull = 'yes' | 'small' | 'no';

type Traits = readonly [isSeen: boolean, isOfAgent: boolean, whenFull: WhenFull];

/**
 * What holds for the facts of each type: whether clients see them, as a task or an event; whether an agent writes them
 * while it runs; and whether a full log takes them.
 */
const traits = {
  'message-received': [false, false, 'no'],
  'task-created': [true, false, 'yes'],
  answered: [true, false, 'small'],
  'turn-started': [false, false, 'yes'],
  'message-taken': [false, true, 'yes'],
  'turn-ended': [false, false, 'yes'],
  woken: [false, false, 'no'],
  'wake-set': [false, false, 'no'],
  'status-changed': [true, true, 'small'],
  'artifact-updated': [true, true, 'no'],
  'cancel-requested': [false, false, 'yes'],
  'step-completed': [false, true, 'no'],
  'step-failed': [false, true, 'no'],
  'turn-failed': [false, false, 'small'],
  'turn-paused': [false, false, 'yes'],
  'memory-changed': [false, true, 'no'],
  'turn-logged': [false, true, 'no'],
  'labels-set': [false, true, 'no'],
  'callback-opened': [false, true, 'no'],
  'callback-received': [false, false, 'no'],
  'child-updated': [false, true, 'no'],
} as const satisfies Record<Fact['type'], Traits>;

/** Whether clients see a fact as a task or an event. A type that only a newer release knows is refused elsewhere. */
export const isSeen = ({ type }: Fact): boolean => traits[type]?.[0] === true;

/** Whether agents write facts of this type while they run. */
export const isOfAgent = ({ type }: Fact): boolean => traits[type][1];

/** Whether a full log takes facts of this type. */
export const whenFull = ({ type }: Fact): WhenFull => traits[type][2];

/** The types of facts that clients see neither as a task nor as an event. */
export type UnseenType = {
  [Type in Fact['type']]: (typeof traits)[Type][0] extends true ? never : Type;
}[Fact['type']];
