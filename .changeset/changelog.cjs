// A change log has what was written in the changesets, and no list of the packages that moved along: all of them do.
module.exports = {
  getReleaseLine: async ({ summary }) => {
    const [first, ...rest] = summary.trim().split('\n')
    return `- ${[first, ...rest.map((line) => (line === '' ? '' : `  ${line}`))].join('\n')}`
  },
  getDependencyReleaseLine: async () => '',
}
