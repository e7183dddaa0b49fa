/** Any JSON value. `JSON.stringify` leaves out members that are `undefined`. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };

/** A JSON object with free members, such as `metadata`. Spec: `google.protobuf.Struct`. */
export type Struct = Record<string, unknown>;
