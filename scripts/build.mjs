// `pnpm build`: types of the facade, one `tsc -b` for every package's types, its JavaScript, then the page through turbo.
import { build } from './bootstrap.mjs'

await build()
