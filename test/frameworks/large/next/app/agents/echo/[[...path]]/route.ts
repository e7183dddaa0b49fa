import { echo } from '../../../../agents.ts';

const serve = (request: Request) => echo.fetch(request);

export { serve as DELETE, serve as GET, serve as OPTIONS, serve as POST };
