// What is in a tarball, read as it is; the questions about it are asked elsewhere.
import { createPackageFromTarballData, type Package } from '@arethetypeswrong/core'
import { readFileSync } from 'node:fs'
import type { Tarball } from './pack.ts'
import type { Manifest } from './workspace.ts'

export interface Contents {
  readonly data: Uint8Array<ArrayBuffer>
  /** Relative to the package. */
  readonly files: readonly string[]
  readonly manifest: Manifest
  /** Text, whatever the file holds. */
  readonly read: (file: string) => string
  /** For are-the-types-wrong. */
  readonly types: Package
}

export function contentsOf({ path }: Pick<Tarball, 'path'>): Contents {
  const data = new Uint8Array(readFileSync(path))
  const types = createPackageFromTarballData(data)
  const folder = `/node_modules/${types.packageName}/`
  const files = types.listFiles().map((file) => file.slice(folder.length))
  const read = (file: string): string => types.readFile(folder + file)
  return { data, files, manifest: JSON.parse(read('package.json')) as Manifest, read, types }
}
