/** Thrown if the gallery cannot start. The message is one line for the user of the command. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
