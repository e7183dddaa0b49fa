/** Any JSON value. Members that are `undefined` are left out when it is written. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };

/** A JSON object with free members, such as `metadata`. Spec: `google.protobuf.Struct`. */
export type Struct = Record<string, unknown>;
