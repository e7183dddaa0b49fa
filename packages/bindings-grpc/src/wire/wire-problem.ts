/** Why a value does not fit into a message, or bytes are no message, with the path to it. */
export class WireProblem extends Error {
  override readonly name = 'WireProblem';
  readonly description: string;
  /** Whether the value is valid elsewhere, and only gRPC cannot carry it. */
  readonly isLimit: boolean;
  #path = '';

  constructor(description: string, isLimit = false) {
    super(description);
    this.description = description;
    this.isLimit = isLimit;
  }

  /** The path to the value, such as `message.parts[0].data`. */
  get field(): string {
    return this.#path;
  }

  /** Adds the member that holds what the path begins with: an error that is no problem of ours becomes one. */
  static at(error: unknown, member: string | number): WireProblem {
    const problem = error instanceof WireProblem ? error : new WireProblem('cannot be read');
    const step = typeof member === 'number' ? `[${member}]` : member;
    const rest = problem.#path;
    problem.#path = rest === '' || rest.startsWith('[') ? step + rest : `${step}.${rest}`;
    return problem;
  }
}
