import { echo } from '../../../../echo.ts';

export const fallback = ({ request }: { request: Request }) => echo.fetch(request);
