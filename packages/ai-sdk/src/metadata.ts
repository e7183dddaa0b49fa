/** The key of what this package writes into metadata: of updates, artifacts and messages of the agent. */
export const AI_SDK = 'https://batonjs.dev/ai-sdk/v1';
