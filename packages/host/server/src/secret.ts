// The secret behind the cookie: kept in a file that only its owner can read, so that open pages survive a restart.
import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage } from '@deepseek-ai/cordis'

export interface KeptSecret {
  readonly secret: Buffer
  /** Why an earlier secret could not be used, for the log. */
  readonly notice?: string
}

type Found = { readonly secret: Buffer } | { readonly notice: string } | undefined

/** Reads the secret of `file`, or makes one. A file that others can read or that makes no sense is replaced. Never throws. */
export function keptSecret(file: string): KeptSecret {
  const fresh = randomBytes(32)
  try {
    const found = readSecret(file)
    if (found !== undefined && 'secret' in found) return found
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const kept = publish(file, fresh, found !== undefined)
    return found === undefined ? { secret: kept } : { secret: kept, ...found }
  } catch (error) {
    const notice = `${file} cannot be used (${errorMessage(error)}); open pages must be opened anew after a restart`
    return { secret: fresh, notice }
  }
}

function readSecret(file: string): Found {
  let text: string
  try {
    const facts = lstatSync(file)
    if (!facts.isFile()) return { notice: `${file} was not a regular file and has been replaced` }
    // Windows has no such bits; there the profile folder's access list protects the file.
    if (process.platform !== 'win32' && (facts.mode & 0o077) !== 0) {
      return { notice: `${file} could be read by others; its secret has been replaced` }
    }
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const secret = parseSecret(text)
  return secret === undefined ? { notice: `${file} held no usable secret and has been replaced` } : { secret }
}

function parseSecret(text: string): Buffer | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null || !('cookieSecret' in parsed)) return undefined
    if (typeof parsed.cookieSecret !== 'string') return undefined
    const secret = Buffer.from(parsed.cookieSecret, 'base64url')
    return secret.length >= 32 ? secret : undefined
  } catch {
    return undefined // not JSON: told by the caller
  }
}

/** Puts the secret in place in one step. Without `replace`, the secret of a server that started at the same moment wins. */
function publish(file: string, secret: Buffer, replace: boolean): Buffer {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(draft, `${JSON.stringify({ cookieSecret: secret.toString('base64url') })}\n`, {
      mode: 0o600,
      flag: 'wx',
    })
    chmodSync(draft, 0o600)
    if (replace) {
      renameSync(draft, file)
      return secret
    }
    try {
      linkSync(draft, file)
      return secret
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const other = readSecret(file)
      return other !== undefined && 'secret' in other ? other.secret : secret
    }
  } finally {
    rmSync(draft, { force: true })
  }
}
