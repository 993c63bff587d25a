// `pnpm build`: types of the facade, one `tsc -b` for every package, then what is not TypeScript (the page) through turbo.
import { build } from './bootstrap.mjs'

await build()
