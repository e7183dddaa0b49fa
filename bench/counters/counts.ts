/** What is counted: a blocking send, one more event of a stream, one more step of a turn. */
export type Work = 'send' | 'event' | 'step';

export type Counter =
  | 'bytes allocated'
  | 'bytes that outlive two young collections'
  | 'promises'
  | 'functions entered'
  | 'values read by a schema'
  | 'texts of JSON made'
  | 'texts of JSON read'
  | 'commits';

/** How many each takes. */
export type Counts = Readonly<Record<Counter, number>>;
