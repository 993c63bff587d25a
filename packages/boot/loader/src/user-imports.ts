// Which files the plugins of users are made of, as the module hooks see it: so that a change of any of them is known to be one of the
// plugin. Knows no row.
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import type { FileImport } from './hooks.ts'

export class UserImports {
  private readonly imports = new Map<string, Set<string>>()
  private port: MessagePort | undefined

  /** Where the hooks write to. Called once. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.port = port1
    return port2
  }

  /** Paths of the files that the module `url` and what it imports consist of; some may not exist. `url` has no version. */
  filesOf(url: string): string[] {
    this.receive()
    const found = new Set([url])
    for (const each of found) for (const file of this.imports.get(each) ?? []) found.add(file)
    return [...found].filter((each) => each.startsWith('file:')).map((each) => fileURLToPath(each))
  }

  /** What is known of a module when a new version of it comes: forgotten if that could be loaded, which has said it anew. */
  async renewed<T>(url: string, load: () => Promise<T>): Promise<T> {
    this.receive()
    const before = this.below(url)
    for (const parent of before.keys()) this.imports.delete(parent)
    try {
      return await load()
    } catch (error) {
      for (const [parent, files] of before) for (const file of files) this.add(parent, file)
      throw error
    }
  }

  private below(url: string): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>()
    const visit = (parent: string): void => {
      const files = this.imports.get(parent)
      if (files === undefined || found.has(parent)) return
      found.set(parent, files)
      for (const file of files) visit(file)
    }
    visit(url)
    return found
  }

  private receive(): void {
    if (this.port === undefined) return
    for (;;) {
      const received: { message: FileImport } | undefined = receiveMessageOnPort(this.port)
      if (received === undefined) return
      this.add(received.message.parent, received.message.file)
    }
  }

  private add(parent: string, file: string): void {
    const files = this.imports.get(parent)
    if (files === undefined) this.imports.set(parent, new Set([file]))
    else files.add(file)
  }
}

/** Of this process, as its module hooks are. */
export const userImports = new UserImports()
