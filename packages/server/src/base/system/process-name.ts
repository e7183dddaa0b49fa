/** This process, as an operator finds it: `4711 on host-a`. Without the host where a runtime does not tell it. */
export function processName(): string {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  const host = process?.getBuiltinModule?.('node:os').hostname();
  return [process?.pid, host && `on ${host}`].filter(Boolean).join(' ');
}
