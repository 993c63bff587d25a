// Says in one sentence that Node is too old. Written so that an old Node can parse and run it.
export function checkNode(minMajor, minMinor) {
  const parts = process.versions.node.split('.').map(Number)
  if (parts[0] > minMajor || (parts[0] === minMajor && parts[1] >= minMinor)) return
  console.error(
    'dsh needs Node ' +
      minMajor +
      '.' +
      minMinor +
      ' or newer; this is Node ' +
      process.versions.node +
      '. Install a newer Node (https://nodejs.org) and run the command again.',
  )
  process.exit(1)
}
