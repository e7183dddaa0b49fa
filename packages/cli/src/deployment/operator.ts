import { userInfo } from 'node:os';

/** The user of this process, who has the rights of an operator. */
export function operator(): string {
  try {
    return `operator ${userInfo().username}`;
  } catch {
    // A container may have no name for its user.
    return 'operator';
  }
}
