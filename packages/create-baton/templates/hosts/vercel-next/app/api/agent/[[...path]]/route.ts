/** A request and what it leaves may take this long together, in seconds. */
export const maxDuration = 60;

/** The agent, below `/api/agent`. It is loaded with the first request, and not by `next build`. */
async function serve(request: Request): Promise<Response> {
  const { answer } = await import('../../../../src/main.ts');
  return answer(request);
}

export { serve as DELETE, serve as GET, serve as OPTIONS, serve as POST };
