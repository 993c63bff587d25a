// The listening socket: opening it with an error a person can act on, and closing it promptly with everything on it.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorMessage } from '@deepseek-ai/cordis'
import { ServerError } from './errors.ts'

/** How long answers in flight may take once the server stops, in milliseconds. */
const CLOSE_GRACE_MS = 250

/** Resolves to the port. Rejects with `PORT_IN_USE` or `LISTEN_FAILED`. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(listenError(error, host, port))
    server.once('error', onError)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', onError)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Stops listening and resolves when every connection has ended. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  // A reader that does not read would keep its connection for ever.
  const late = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS)
  await closed
  clearTimeout(late)
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): ServerError {
  if (error.code === 'EADDRINUSE') {
    const remedy = 'Choose another with --port, or --port 0 to let the system pick one.'
    return new ServerError(`port ${port} on ${host} is in use by another program. ${remedy}`, 'PORT_IN_USE', {
      cause: error,
    })
  }
  const remedy =
    error.code === 'EACCES' ? '. Ports below 1024 may need rights that you do not have: choose another with --port' : ''
  return new ServerError(`cannot listen on ${host} port ${port}: ${errorMessage(error)}${remedy}`, 'LISTEN_FAILED', {
    cause: error,
  })
}
