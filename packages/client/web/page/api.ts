// Calls the server's methods. Knows no state but whether the page is signed in.
import type { MethodName, MethodResponse, Methods } from '@deepseek-ai/dsh-server/protocol'

/** A call that did not work. Codes of the page itself: `NETWORK`, `UNAUTHORIZED`, `HTTP_<status>`. */
export class ApiError extends Error {
  readonly code: string

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

let signedOut = false
const listeners = new Set<() => void>()

export const auth = {
  signedOut: (): boolean => signedOut,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  refuse(): void {
    signedOut = true
    for (const listener of listeners) listener()
  },
}

async function post(name: string, params: object): Promise<Response> {
  try {
    return await fetch(`/api/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(params),
    })
  } catch (cause) {
    throw new ApiError('The server does not answer.', 'NETWORK', { cause })
  }
}

/** Rejects with `ApiError`. */
export async function call<M extends MethodName>(name: M, params: Methods[M]['params']): Promise<Methods[M]['value']> {
  const response = await post(name, params)
  if (response.status === 401) {
    auth.refuse()
    throw new ApiError('Not signed in.', 'UNAUTHORIZED')
  }
  const body = (await response.json().catch(() => undefined)) as MethodResponse<M> | undefined
  if (body?.ok === true) return body.value
  if (body?.ok === false) throw new ApiError(body.error.message, body.error.code)
  throw new ApiError(`The server answered with status ${response.status}.`, `HTTP_${response.status}`)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
