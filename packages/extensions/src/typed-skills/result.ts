/** The name of the artifact that contains the output of a skill. */
export const RESULT = 'result';
