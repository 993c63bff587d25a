// `npm start`: brings everything a fresh checkout needs, then runs `dsh web` with the arguments given.
import { checkNode } from './check-node.mjs'

checkNode(20, 19)
import('./bootstrap.mjs')
  .then(async ({ bootstrap, root }) => {
    await bootstrap()
    process.argv.splice(2, 0, 'web')
    const { pathToFileURL } = await import('node:url')
    await import(pathToFileURL(`${root}/packages/boot/cli/dist/bin.js`).href)
  })
  .catch((error) => {
    console.error(error)
    process.exit(1)
  })
