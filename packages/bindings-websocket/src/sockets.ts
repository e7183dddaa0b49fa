// WebSockets on a server of `node:http`: what every protocol over them needs.

export * from './sockets/socket-listener.ts';
export { headersOf, type OnUpgrade, routeUpgrades, type UpgradeListener } from './sockets/upgrade-routes.ts';
