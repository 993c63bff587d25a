// Builds the page into dist/page: no inline scripts (the CSP allows 'self' only), and a compressed sibling beside every text asset.
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// Note: the grammars belong to lowlight's own copy of highlight.js, which a strict node_modules does not expose to this package.
const fromLowlight = createRequire(createRequire(import.meta.url).resolve('lowlight'))
const grammars = dirname(fromLowlight.resolve('highlight.js/package.json'))

const worthIt = 1024

function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle(options, bundle) {
      const root = options.dir ?? '.'
      const texts = Object.keys(bundle).filter((file) => /\.(?:js|css|html|svg)$/.test(file))
      await Promise.all(
        texts.map(async (file) => {
          const path = join(root, file)
          const bytes = await readFile(path)
          if (bytes.length <= worthIt) return
          const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
          await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }))
          await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
        }),
      )
    },
  }
}

/** Puts the styles into the document: the first paint then waits for nothing else. The CSP allows inline styles. */
function inlineStyles(): Plugin {
  return {
    name: 'inline-styles',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        return html.replace(/<link rel="stylesheet"[^>]*href="\/([^"]+)"[^>]*>/g, (link, file: string) => {
          const asset = bundle[file]
          if (asset?.type !== 'asset') return link
          delete bundle[file]
          return `<style>${String(asset.source).trim()}</style>`
        })
      },
    },
  }
}

export default defineConfig({
  root: join(import.meta.dirname, 'page'),
  plugins: [react(), tailwind(), inlineStyles(), precompress()],
  resolve: { alias: { 'highlight.js': grammars } },
  build: {
    outDir: join(import.meta.dirname, 'dist/page'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: false,
  },
})
