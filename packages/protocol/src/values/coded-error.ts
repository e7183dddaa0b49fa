/** An error that says by a `code` what went wrong. */
export abstract class CodedError<Code extends string = string> extends Error {
  /** The `name` of the errors: a bundler may have given the class another one. */
  static readonly title: string = 'CodedError';
  readonly code: Code;

  constructor(code: Code, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.title;
    this.code = code;
  }

  /**
   * Whether a value is an error of this class; with a code, whether it is one with that code. Unlike `instanceof`, it also
   * recognises errors of another copy of the package.
   */
  static is<E extends CodedError>(
    this: { readonly title: string; readonly prototype: E },
    value: unknown,
    code?: E['code'],
  ): value is E {
    const error = Object(value);
    return error.name === this.title && (code === undefined || error.code === code);
  }
}
