import type { RequestContext, ServerCallContext } from '@a2a-js/sdk/server';
import type { Turn } from '@batonjs/server';
import { theirMessage, theirTask } from './convert.ts';

/** The request context that the executor gets for a turn. */
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

/** The caller in the SDK's shape: a user name, with the claims in `state` under `caller`. */
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
  // The SDK's class has private members, so only its own code can create one. Executors use its public members only.
  return context as unknown as ServerCallContext;
}
