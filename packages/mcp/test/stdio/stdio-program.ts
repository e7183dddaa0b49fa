import { connect } from '@batonjs/client';
import { serveMcpStdio } from '../../src/stdio/serve-mcp-stdio.ts';

/** Serves the agent at the URL over standard input and output, until its client closes. */
serveMcpStdio(await connect(process.argv[2] ?? ''));
