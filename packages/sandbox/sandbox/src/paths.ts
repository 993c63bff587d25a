// Where a path really leads, before it exists too. Judging what may happen there is not done here.
import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** As many links as Linux follows. */
const MAX_LINKS = 40

/**
 * The real path; for what does not exist, that of the nearest existing parent with the rest behind it. A dangling link counts as its
 * target, since writing to it would create that.
 */
export function realPathOf(path: string, links = 0): string {
  const rest: string[] = []
  let at = resolve(path)
  for (;;) {
    try {
      return join(realpathSync.native(at), ...rest)
    } catch {
      // Missing, closed to us, or a link to nothing: look at the link, else one level up.
    }
    const target = links < MAX_LINKS ? linkTarget(at, links) : undefined
    if (target !== undefined) return realPathOf(join(target, ...rest), links + 1)
    const parent = dirname(at)
    if (parent === at) return join(at, ...rest)
    rest.unshift(basename(at))
    at = parent
  }
}

/** True for the folder itself and everything below. Both absolute and normal. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** The names from `folder` down to `path`; undefined when it is not inside. */
export function segmentsBelow(path: string, folder: string): string[] | undefined {
  if (!isWithin(path, folder)) return undefined
  const below = relative(folder, path)
  return below === '' ? [] : below.split(sep)
}

/** Leaves out what lies within another entry. */
export function outermost(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)]
  return unique.filter((path) => !unique.some((other) => other !== path && isWithin(path, other)))
}

/** A relative link counts from the folder that it really is in, which may have been spelled through another link. */
function linkTarget(path: string, links: number): string | undefined {
  try {
    const target = readlinkSync(path)
    return isAbsolute(target) ? resolve(target) : resolve(realPathOf(dirname(path), links + 1), target)
  } catch {
    return undefined // no link
  }
}
