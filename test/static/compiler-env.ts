/** The compiler lives for seconds: collecting its garbage would take a quarter of its time. */
export const compilerEnv = { ...process.env, GOGC: 'off', GOMEMLIMIT: '2GiB' };
