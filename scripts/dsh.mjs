// `pnpm dsh …` and `npm run dsh -- …`: the built command line, run from the folder the command was typed in.
import { checkNode } from './check-node.mjs'

checkNode(20, 19)
import('./bootstrap.mjs')
  .then(async ({ bootstrap, isInstalled, root }) => {
    const { existsSync } = await import('node:fs')
    const { pathToFileURL } = await import('node:url')
    const entry = `${root}/packages/boot/cli/dist/bin.js`
    if (!existsSync(entry) || !isInstalled()) await bootstrap()
    // Package managers run scripts from the package's folder and keep the caller's in INIT_CWD.
    if (process.env.INIT_CWD !== undefined && process.env.npm_lifecycle_event === 'dsh')
      process.chdir(process.env.INIT_CWD)
    await import(pathToFileURL(entry).href)
  })
  .catch((error) => {
    console.error(error)
    process.exit(1)
  })
