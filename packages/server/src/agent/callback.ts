/** What `turn.callback` is asked for. */
export interface CallbackRequest {
  /** The name of the value in `turn.callbacks`. Default `'callback'`. */
  readonly name?: string;
  /** For how long the URL takes the value, in milliseconds. More than 0. */
  readonly expiresMs: number;
  /**
   * What the value must be: a JSON Schema, or a schema of zod or another library with Standard JSON Schema. Kept in the log,
   * so that any process can check it. Default: any JSON.
   */
  readonly schema?: CallbackSchema;
  /**
   * Who answers. The URL then takes no value: it is a page with the question of the task and its form, without a login,
   * for this person. The answer is a message of the task, and `turn.caller` has the name as `answeredBy`.
   */
  readonly answeredBy?: string;
}

/** A JSON Schema, or an object that has one: https://standardschema.dev/json-schema. */
export type CallbackSchema =
  | Readonly<Record<string, unknown>>
  | {
      readonly '~standard': {
        readonly jsonSchema: {
          input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>;
        };
      };
    };

/** A URL to which another system posts one value. */
export interface OpenedCallback {
  /** Who has it may send the value: give it to that system alone. */
  readonly url: string;
  readonly expiresAt: Date;
}

/** A value that another system has sent. */
export interface ReceivedCallback {
  readonly value: unknown;
  readonly receivedAt: Date;
}
