import type { RequestContext, ServerCallContext } from '@a2a-js/sdk/server';
import type { Turn } from '@batonjs/server';
import { theirMessage, theirTask } from './convert.ts';

/** What an executor is given for a turn. */
export async function requestContextOf(turn: Turn): Promise<RequestContext> {
  const { taskId, contextId, task, message, metadata, acceptedOutputModes } = turn;
  const userMessage = theirMessage(message);
  const { tasks } = await turn.references();
  const referenceTasks = tasks.map(theirTask);
  return {
    request: {
      tenant: '',
      message: userMessage,
      configuration: {
        acceptedOutputModes: [...acceptedOutputModes],
        taskPushNotificationConfig: undefined,
        returnImmediately: false,
      },
      metadata: { ...metadata },
    },
    taskId,
    contextId,
    context: callContextOf(turn),
    userMessage,
    ...(task && { task: theirTask(task) }),
    ...(referenceTasks.length > 0 && { referenceTasks }),
  };
}

/** The caller as the SDK knows one: by name, with its claims in `state`. */
function callContextOf({ caller, extensions }: Turn): ServerCallContext {
  const activated = new Set<string>();
  const userName = String(caller.userName ?? caller.sub ?? '');
  const context = {
    tenant: undefined,
    user: { isAuthenticated: userName !== '', userName },
    requestedExtensions: [...extensions],
    get activatedExtensions() {
      return activated.size > 0 ? [...activated] : undefined;
    },
    requestedVersion: '1.0',
    state: new Map<string, unknown>([['caller', caller]]),
    addActivatedExtension: (uri: string) => void activated.add(uri),
    setTenant: () => {},
    setRequestedExtensions: () => {},
  };
  // A class with private members cannot be made without its code; executors use only what is public.
  return context as unknown as ServerCallContext;
}
