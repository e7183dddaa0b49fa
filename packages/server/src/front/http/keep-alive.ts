/**
 * How long a server keeps an idle connection, in milliseconds. Proxies and load balancers keep theirs for 60 s. What they
 * send over a connection that the server closes at that moment, after the 5 s of Node.js, they answer with a 502.
 */
export const keepAliveMs = 75_000;
