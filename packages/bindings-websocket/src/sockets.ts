// WebSockets on a server of `node:http`: what every protocol over them needs.

export {
  type ServedSocket,
  SocketListener,
  type SocketRole,
  type SocketSettings,
} from './sockets/socket-listener.ts';
export { headersOf, type OnUpgrade, routeUpgrades, type UpgradeListener } from './sockets/upgrade-routes.ts';
