import { echo } from '../../agents.ts';

export const GET = () => Response.json(echo.load);
export const dynamic = 'force-dynamic';
