// Finds the services that packages add to `Context` and reads their public members from the syntax tree. Renders nothing.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import {
  isClassDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  isPropertySignatureDeclaration,
  isTypeAliasDeclaration,
  isTypeReferenceNode,
  SyntaxKind,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { joinDocstrings, type Docstring } from './docstring.ts'
import {
  isDeclaration,
  isAugmentation,
  interfacesIn,
  isExported,
  isPublicMember,
  isBody,
  signatureOf,
  textOf,
  docOf,
  headerOf,
  type Declaration,
} from './syntax.ts'

/** A place in the repository: a path with forward slashes, relative to the root, and a 1-based line. */
export interface Place {
  readonly file: string
  readonly line: number
}

export interface Member {
  readonly name: string
  /** Names of parameters, optional ones with `?`; undefined for a property. */
  readonly parameters: readonly string[] | undefined
  /** As written, without modifiers and body. */
  readonly signature: string
  readonly optional: boolean
  readonly doc: Docstring
  readonly place: Place
}

/** A type that signatures name. */
export interface TypeEntry {
  readonly name: string
  readonly doc: Docstring
  readonly place: Place
  /** Of an interface; undefined where `text` tells it better. */
  readonly members: readonly Member[] | undefined
  /** The declaration as written. */
  readonly text: string
}

export interface ServiceEntry {
  /** As on the context: `tools` for `ctx.tools`. */
  readonly key: string
  readonly typeName: string
  readonly packageName: string
  readonly packageDir: string
  readonly doc: Docstring
  readonly place: Place
  readonly members: readonly Member[]
  readonly events: readonly Member[]
  /** Types that members and events name and the package declares, in order of mention. */
  readonly types: readonly TypeEntry[]
}

/** Every service of every package below `root`, by name. */
export function readServices(root: string): ServiceEntry[] {
  const api = new API({ cwd: root })
  try {
    return packageDirs(root)
      .flatMap((dir) => new PackageReader(root, dir, api).services())
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  } finally {
    api.close()
  }
}

/** Packages that augment the context, found by their text: parsing all of them would take seconds. */
function packageDirs(root: string): string[] {
  const packages = join(root, 'packages')
  return readdirSync(packages)
    .flatMap((group) => readdirSync(join(packages, group)).map((name) => join(packages, group, name)))
    .filter((dir) => sourcesOf(dir).some((file) => /interface Context \{/.test(readFileSync(file, 'utf8'))))
    .sort()
}

function sourcesOf(dir: string): string[] {
  try {
    return readdirSync(join(dir, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(dir, 'src', file))
      .sort()
  } catch {
    return [] // no package, or none with sources
  }
}

class PackageReader {
  readonly #root: string
  readonly #dir: string
  readonly #files: readonly SourceFile[]
  readonly #declarations = new Map<string, Declaration>()

  constructor(root: string, dir: string, api: API) {
    this.#root = root
    this.#dir = dir
    const config = join(dir, 'tsconfig.json')
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (project === undefined) throw new Error(`${config} is no project that TypeScript can open`)
    this.#files = sourcesOf(dir).flatMap((file) => project.program.getSourceFile(file) ?? [])
    for (const file of this.#files) {
      for (const statement of file.statements) {
        if (isDeclaration(statement) && statement.name !== undefined) {
          this.#declarations.set(statement.name.text, statement)
        }
      }
    }
  }

  services(): ServiceEntry[] {
    return this.#files.flatMap((file) => {
      const augmentation = file.statements.find(isAugmentation)
      if (augmentation === undefined) return []
      const inner = interfacesIn(augmentation)
      const events = this.#members(inner.find(({ name }) => name.text === 'Events'))
      const context = inner.find(({ name }) => name.text === 'Context')
      return [...(context?.members ?? [])].flatMap((member) => {
        if (!isPropertySignatureDeclaration(member) || member.type === undefined) return []
        return this.#service(textOf(member.name), textOf(member.type), events)
      })
    })
  }

  #service(key: string, typeName: string, events: readonly Member[]): ServiceEntry {
    const declaration = this.#declarations.get(typeName)
    if (declaration === undefined) throw new Error(`ctx.${key}: ${this.#dir} declares no type ${typeName}`)
    const contracts = this.#contractsOf(declaration)
    const members = this.#members(declaration).map((member) => {
      const promised = contracts.flatMap((each) => this.#members(each)).find(({ name }) => name === member.name)
      if (promised === undefined) return member
      return { ...promised, doc: joinDocstrings(promised.doc, member.doc), place: member.place }
    })
    const doc = contracts.map(docOf).reduceRight((own, contract) => joinDocstrings(contract, own), docOf(declaration))
    const manifest = JSON.parse(readFileSync(join(this.#dir, 'package.json'), 'utf8')) as { name: string }
    const named = [declaration, ...this.#augmentedEvents(events)].flatMap((node) => this.#mentioned(node))
    return {
      key,
      typeName,
      packageName: manifest.name,
      packageDir: this.#path(this.#dir),
      doc:
        doc.text.replace(`\`ctx.${key}\``, '') === '' ? { ...doc, text: headerOf(declaration.getSourceFile()) } : doc,
      place: this.#place(declaration),
      members,
      events,
      types: this.#closure(named)
        .filter((name) => name !== typeName)
        .flatMap((name) => this.#type(name)),
    }
  }

  #augmentedEvents(events: readonly Member[]): Node[] {
    if (events.length === 0) return []
    return this.#files.flatMap((file) => {
      const augmentation = file.statements.find(isAugmentation)
      return augmentation === undefined ? [] : interfacesIn(augmentation).filter(({ name }) => name.text === 'Events')
    })
  }

  /** What a class implements, as far as this package says it. */
  #contractsOf(declaration: Declaration): Declaration[] {
    if (isTypeAliasDeclaration(declaration)) return []
    return [...(declaration.heritageClauses ?? [])]
      .flatMap((clause) => [...clause.types])
      .flatMap((type) => this.#declarations.get(textOf(type.expression)) ?? [])
  }

  #members(declaration: Declaration | undefined): Member[] {
    if (declaration === undefined || isTypeAliasDeclaration(declaration)) return []
    const seen = new Set<string>()
    return [...declaration.members].flatMap((member) => {
      const { name: node } = member as { name?: Node }
      if (!isPublicMember(member) || node === undefined) return []
      const name = textOf(node).replaceAll(/^'|'$/g, '')
      if (name.startsWith('[') || name.startsWith('#') || seen.has(name)) return []
      seen.add(name)
      return [this.#member(name, member)]
    })
  }

  #member(name: string, member: Node): Member {
    const callable = isMethodDeclaration(member) || isMethodSignatureDeclaration(member)
    const optional =
      'postfixToken' in member && (member.postfixToken as Node | undefined)?.kind === SyntaxKind.QuestionToken
    return {
      name,
      parameters: callable
        ? [...member.parameters].map((each) => {
            const mayBeOmitted = each.questionToken !== undefined || each.initializer !== undefined
            return `${textOf(each.name)}${mayBeOmitted ? '?' : ''}`
          })
        : undefined,
      signature: signatureOf(member),
      optional,
      doc: docOf(member),
      place: this.#place(member),
    }
  }

  /** Names of types in the public signatures below a node. */
  #mentioned(node: Node): string[] {
    const names: string[] = []
    const visit = (inner: Node): void => {
      if (isBody(inner)) return
      if (inner !== node && isClassDeclaration(node) && inner.parent === node && !isPublicMember(inner)) return
      if (isTypeReferenceNode(inner) && isIdentifier(inner.typeName)) names.push(inner.typeName.text)
      inner.forEachChild(visit)
    }
    visit(node)
    return names
  }

  /** The names, then those that their declarations name, and so on. */
  #closure(names: readonly string[]): string[] {
    const known = new Set(names)
    // A set grows while it is walked.
    for (const name of known) {
      const declaration = this.#declarations.get(name)
      if (declaration === undefined || isClassDeclaration(declaration)) continue
      for (const contract of this.#contractsOf(declaration))
        if (contract.name !== undefined) known.add(contract.name.text)
      for (const inner of this.#mentioned(declaration)) known.add(inner)
    }
    return [...known]
  }

  #type(name: string): TypeEntry[] {
    const declaration = this.#declarations.get(name)
    if (declaration === undefined || !isExported(declaration)) return []
    const source = declaration.getSourceFile()
    return [
      {
        name,
        doc: docOf(declaration),
        place: this.#place(declaration),
        members: isInterfaceDeclaration(declaration) ? this.#members(declaration) : undefined,
        text: source.text.slice(declaration.getStart(source), declaration.end).replace(/^export /, ''),
      },
    ]
  }

  #place(node: Node): Place {
    const source = node.getSourceFile()
    const line = source.text.slice(0, node.getStart(source)).split('\n').length
    return { file: this.#path(source.fileName), line }
  }

  #path(absolute: string): string {
    return relative(this.#root, absolute).split(sep).join('/')
  }
}
