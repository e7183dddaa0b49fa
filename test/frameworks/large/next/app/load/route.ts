import { connection } from 'next/server';
import { echo } from '../../agents.ts';

export async function GET() {
  // The answer is another one for each request.
  await connection();
  return Response.json(echo.load);
}
