import { connection } from 'next/server';

/** Whether the agent takes messages. */
export async function GET(): Promise<Response> {
  await connection();
  const { server } = await import('../../src/main.ts');
  return new Response(null, { status: (await server.ready()) ? 200 : 503 });
}
