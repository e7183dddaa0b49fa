export { type A2AHonoOptions, a2aHono } from './a2a-hono.ts';
