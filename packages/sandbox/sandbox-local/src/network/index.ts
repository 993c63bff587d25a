// The network of a session: its namespace, and the proxy that lets named hosts through.
export { SessionNetwork, type PreparedNetwork, type SessionNetworkOptions } from './session-network.ts'
