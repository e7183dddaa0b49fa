export const maxDuration = 60;

/** Works on all that is due. The cron of `vercel.json` comes with `CRON_SECRET`; others sign with it. */
async function run(request: Request): Promise<Response> {
  const { cron } = await import('../../../src/main.ts');
  return cron(request);
}

export { run as GET, run as POST };
