// What a manifest says once it is packed: nothing that only this checkout has a use for, and where the source is kept.
const path = require('node:path')

module.exports = { hooks: { beforePacking } }

function beforePacking(manifest, folder) {
  const { devDependencies: _development, scripts: _scripts, exports: entries = {}, ...rest } = manifest
  const packed = { ...rest, exports: withoutSource(entries) }
  const { DSH_PACK_ROOT: root, DSH_PACK_REPOSITORY: address } = process.env
  if (!address) return packed
  const url = `git+${address.replace(/^git\+/, '').replace(/(\.git)?\/?$/, '.git')}`
  return {
    ...packed,
    repository: { type: 'git', url, directory: path.relative(root, folder).split(path.sep).join('/') },
  }
}

/** Entries without the condition that leads tests to sources: sources are not packed. */
function withoutSource(entries) {
  if (typeof entries !== 'object' || entries === null) return entries
  return Object.fromEntries(
    Object.entries(entries)
      .filter(([condition]) => condition !== '@deepseek-ai/source')
      .map(([condition, target]) => [condition, withoutSource(target)]),
  )
}
