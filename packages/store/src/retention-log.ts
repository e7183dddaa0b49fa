/**
 * The scope, id and queue of the log whose lease gives a server the right to delete old tasks. Its lease is never given
 * back, and no process needs to be started for it. No scope of callers and no queue of agents has this name.
 */
export const retentionLog = 'baton:retention';
