/** The agent, below `/api/agent`. It is loaded with the first request, and not by `next build`. */
async function serve(request: Request): Promise<Response> {
  const { server } = await import('../../../../src/main.ts');
  return server.fetch(request);
}

export { serve as DELETE, serve as GET, serve as OPTIONS, serve as POST };
