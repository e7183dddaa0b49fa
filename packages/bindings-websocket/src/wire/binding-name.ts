/** The binding as cards name it: `AgentInterface.protocolBinding`. A change that breaks peers gets another URI. Spec: §5.8. */
export const WEBSOCKET_BINDING = 'https://batonjs.dev/bindings/websocket/v1';

/** The sub-protocol that both sides agree on in the upgrade. */
export const SUBPROTOCOL = 'a2a.v1';

/** Whether a `protocolBinding` is another name of the binding: that of other implementations, or a later official one. */
export const isAlias = (protocolBinding: string): boolean =>
  protocolBinding.toUpperCase() === 'WEBSOCKET' ||
  protocolBinding.startsWith('https://a2a-protocol.org/bindings/websocket');
