/** The name of the variable that says that files share this process. */
export const ONE_PROCESS = 'BATON_TESTS_SHARE_PROCESS';

/** Whether other test files run in this process too. */
export const sharesProcess = (): boolean => process.env[ONE_PROCESS] === 'true';

/** The name of the variable with the milliseconds that a file's connections and processes get to end. */
export const PATIENCE = 'BATON_TESTS_PATIENCE_MS';
