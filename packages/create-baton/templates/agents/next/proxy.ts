import { type NextRequest, NextResponse } from 'next/server';

/** Gives each visitor a session of their own. An app with accounts has its own cookie: see `authenticate` in `src/main.ts`. */
export function proxy(request: NextRequest): NextResponse {
  const response = NextResponse.next();
  if (!request.cookies.has('session'))
    response.cookies.set('session', crypto.randomUUID(), {
      httpOnly: true,
      sameSite: 'lax',
      secure: request.nextUrl.protocol === 'https:',
      maxAge: 30 * 24 * 60 * 60,
    });
  return response;
}

export const config = { matcher: '/' };
