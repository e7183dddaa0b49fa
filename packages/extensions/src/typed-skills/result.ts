/** The name of the artifact whose data is what a skill gives. */
export const RESULT = 'result';
