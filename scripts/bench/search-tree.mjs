// The tree that searches are measured on: 100,000 small files in 1000 folders, some of them binary, ignored or hidden; the same every time.
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FOLDERS = 1000
const FILES_EACH = 100
const ENDINGS = ['ts', 'js', 'md', 'json', 'txt']
const WORDS = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau'.split(
  ' ',
)

/** In 30 lines of nearly every file: three million in all. */
export const COMMON = 'const'
/** In about one file of a thousand. */
export const RARE = 'needle_in_haystack'
export const NONE = 'nowhere_to_be_found'

/** Returns the folder; the caller removes it. */
export function makeTree() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-bench-search-')))
  mkdirSync(join(root, '.git'))
  writeFileSync(join(root, '.gitignore'), 'node_modules/\n*.log\ngenerated.ts\n')
  writeFileSync(join(root, '.hidden.ts'), `${COMMON} hidden\n`)
  mkdirSync(join(root, 'node_modules'))
  writeFileSync(join(root, 'node_modules', 'ignored.ts'), `${COMMON} ignored\n`)
  const next = random(1)
  const lines = Array.from({ length: 2000 }, (_, number) => line(number, next))
  for (let folder = 0; folder < FOLDERS; folder++) {
    const at = join(root, `package-${pad(folder % 50)}`, `module-${pad(Math.floor(folder / 50))}`)
    mkdirSync(at, { recursive: true })
    for (let file = 0; file < FILES_EACH; file++) {
      const ending = file === 99 && folder % 4 === 0 ? 'bin' : ENDINGS[file % ENDINGS.length]
      writeFileSync(join(at, `file-${file}.${ending}`), content(lines, next, ending === 'bin'))
    }
    writeFileSync(join(at, 'generated.ts'), `${COMMON} ${RARE}\n`)
  }
  return root
}

function content(lines, next, binary) {
  let text = binary ? '\0\u0001' : ''
  for (let count = 0; count < 30; count++) text += lines[next(lines.length)]
  return next(1000) === 0 ? `${text}// ${RARE}\n` : text
}

function line(number, next) {
  const words = Array.from({ length: 4 }, () => WORDS[next(WORDS.length)])
  return `  const value${number} = ${words.join(' ')}\n`
}

function random(seed) {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state % below
  }
}

function pad(number) {
  return String(number).padStart(2, '0')
}
