/**
 * The scope, id and queue of the log whose lease gives a server the right to delete old tasks. Its lease is never given
 * back, and no process needs to be started for it.
 */
export const retentionLog = 'baton:retention';
