// `dsh new tool NAME`: a package with one working tool, its card, its test and the row that mounts it.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { CommandError, EXIT, type ExitCode } from '../exit.ts'
import { ownVersion, TEMPLATES } from '../own-files.ts'

export interface NewToolFlags {
  /** Where to put it. Default: a folder of the tool's name, here. */
  folder?: string
  /** Name of the package. Default: `dsh-tool-` and the name. */
  package?: string
  description?: string
}

const TEMPLATE = join(TEMPLATES, 'tool')
/** A template file ends so, lest tools of the checkout take it for source. */
const ENDING = '.txt'
const MOST_LETTERS = 60

export async function newTool(word: string, flags: NewToolFlags): Promise<ExitCode> {
  const values = valuesFor(word, flags)
  const folder = resolve(flags.folder ?? values.kebab)
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new CommandError(`${folder} is there and not empty; choose another --folder`, EXIT.usage)
  }
  const files = templateFiles().map((file) => ({
    path: join(folder, placeOf(file, values)),
    text: filled(readFileSync(join(TEMPLATE, file), 'utf8'), values),
  }))
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
  }
  const shown = relative(process.cwd(), folder) || '.'
  process.stdout.write(
    `${files.map(({ path }) => relative(process.cwd(), path)).join('\n')}\n\n` +
      `Try it:\n  dsh call ${values.snake} '{"text":"one two"}' --patch ${shown}/cordis.yml\n` +
      `  dsh tools check ./${shown}/src/index.ts --generate\n  dsh web --patch ${shown}/cordis.yml\n`,
  )
  return EXIT.done
}

type Values = Readonly<Record<'kebab' | 'snake' | 'camel' | 'package' | 'description' | 'version', string>>

function valuesFor(word: string, flags: NewToolFlags): Values {
  const words = word
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_ ]+/)
    .filter((each) => each !== '')
  const kebab = words.join('-')
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(kebab) || kebab.length > MOST_LETTERS) {
    const wanted = `letters and digits, words joined by "-" or "_", at most ${MOST_LETTERS}, a letter first`
    throw new CommandError(`the name of a tool is ${wanted}; got ${JSON.stringify(word)}`, EXIT.usage)
  }
  const camel = words.map((each, index) => (index === 0 ? each : each.charAt(0).toUpperCase() + each.slice(1))).join('')
  return {
    kebab,
    snake: words.join('_'),
    // A name of its own beside what the language and the templates have.
    camel: `${camel}Tool`,
    package: packageName(flags.package ?? `dsh-tool-${kebab}`),
    description: oneLine(flags.description ?? `A tool for dsh: ${words.join(' ')}.`),
    version: ownVersion(),
  }
}

function packageName(name: string): string {
  if (/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/.test(name) && name.length <= 214) return name
  throw new CommandError(`${JSON.stringify(name)} is no name for a package on npm`, EXIT.usage)
}

/** It stands in JSON and in Markdown. */
function oneLine(text: string): string {
  return JSON.stringify(text.replace(/\s+/g, ' ').trim()).slice(1, -1)
}

function templateFiles(): string[] {
  return readdirSync(TEMPLATE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(ENDING))
}

function placeOf(file: string, { kebab }: Values): string {
  return file
    .slice(0, -ENDING.length)
    .replace(/^gitignore$/, '.gitignore')
    .replace(/\btool(?=\.(test\.)?ts$)/, kebab)
}

function filled(text: string, values: Values): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, key: keyof Values) => values[key])
}
